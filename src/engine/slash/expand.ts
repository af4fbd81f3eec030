import { SallyportError } from "../../errors.ts";

const placeholder = /\$(ARGUMENTS|[1-9])(?![A-Za-z0-9_])/g;

export interface ExpandOptions {
  /** True where the result is run as a command line: arguments are then never put where the file has no place for them. */
  readonly isCommandLine: boolean;
  readonly maxChars: number;
}

/**
 * Puts the arguments of `/name args` into a command file's text: `$ARGUMENTS` is all of them, `$1` to `$9` the words,
 * empty where there are fewer. A text without a placeholder gets them as a last line.
 *
 * @throws SallyportError invalid_field (a command line that takes no arguments), too_large
 */
export function expandCommand(body: string, args: string, options: ExpandOptions): string {
  const words = splitWords(args);
  const takesArguments = body.search(placeholder) !== -1;
  if (!takesArguments && args !== "" && options.isCommandLine)
    throw new SallyportError(
      "invalid_field",
      "This command takes no arguments: its file has no $ARGUMENTS.",
      {
        field: "text",
      },
    );
  let chars = body.length;
  const filled = body.replace(placeholder, (_match, which: string) => {
    const value = which === "ARGUMENTS" ? args : (words[Number(which) - 1] ?? "");
    chars += value.length;
    if (chars > options.maxChars) throw tooLarge(options.maxChars);
    return value;
  });
  const text = takesArguments || args === "" ? filled : `${filled}\n\nARGUMENTS: ${args}`;
  if (text.length > options.maxChars) throw tooLarge(options.maxChars);
  return text;
}

/** Words at spaces; quotes of either kind keep spaces inside one word. An open quote goes to the end. */
export function splitWords(args: string): string[] {
  return [...args.matchAll(/(?:"[^"]*(?:"|$)|'[^']*(?:'|$)|[^\s"'])+/g)].map(([word]) =>
    word.replace(
      /"([^"]*)(?:"|$)|'([^']*)(?:'|$)/g,
      (_match, double?: string, single?: string) => double ?? single ?? "",
    ),
  );
}

function tooLarge(maxChars: number): SallyportError {
  return new SallyportError(
    "too_large",
    `With its arguments the command has more than ${maxChars} characters.`,
    {
      field: "text",
    },
  );
}
