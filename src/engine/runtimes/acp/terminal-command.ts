import { resolveFolder } from "../../files/resolve-folder.ts";
import { checkCommandLine } from "../shell.ts";
import { RefuseAgent } from "./connection.ts";
import { listOf, objectOf } from "./raw-values.ts";
import { quoteWord } from "./tool-call.ts";

export interface CommandPlace {
  readonly homeFolder: string;
  readonly userHome: string;
}

export interface CommandLine {
  /** What is judged, shown and run by `/bin/sh`. */
  readonly text: string;
  /** The command alone, as a call of the agent may name it. */
  readonly shown: string;
}

/**
 * One line for `/bin/sh` that does what the agent asks for. Without arguments the command is a line already; with them each
 * word is quoted. Variables and another folder become a part of the line, so that they are seen and judged as well.
 */
export async function commandLine(
  params: Readonly<Record<string, unknown>>,
  cwd: string,
  place: CommandPlace,
): Promise<CommandLine> {
  const { command, args } = params;
  if (typeof command !== "string") throw new RefuseAgent(-32602, "command must be a text.");
  const words = listOf(args, 10_000);
  if (words.some((word) => typeof word !== "string")) throw new RefuseAgent(-32602, "args must be texts.");
  const shown =
    words.length === 0 ? command : [command, ...(words as readonly string[])].map(quoteWord).join(" ");
  const text = `${await folderPart(params.cwd, cwd, place)}${variablePart(params.env)}${shown}`;
  checkCommandLine(text, "command");
  return { text, shown };
}

async function folderPart(raw: unknown, cwd: string, place: CommandPlace): Promise<string> {
  if (raw === undefined || raw === null || raw === cwd) return "";
  if (typeof raw !== "string" || raw.startsWith("~"))
    throw new RefuseAgent(-32602, "cwd must be an absolute path.");
  const folder = await resolveFolder(raw, {
    homeFolder: place.homeFolder,
    userHome: place.userHome,
    browseRoot: null,
  });
  return folder === cwd ? "" : `cd -- ${quoteWord(folder)} && `;
}

function variablePart(raw: unknown): string {
  const parts = listOf(raw, 1_000).flatMap((each) => {
    const { name, value } = objectOf(each);
    if (typeof name !== "string" || typeof value !== "string" || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw new RefuseAgent(-32602, "env must hold names and values.");
    return name.startsWith("SALLYPORT_") ? [] : [`${name}=${quoteWord(value)}`];
  });
  return parts.length === 0 ? "" : `export ${parts.join(" ")}; `;
}
