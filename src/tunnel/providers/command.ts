import { createAskingReader } from "../asking.ts";
import { createFieldReader } from "../fields.ts";
import { readableLine } from "../json-line.ts";
import { namedAddress } from "../named-address.ts";
import { complaint } from "../problem-lines.ts";
import type { Provider } from "../provider.ts";
import { stripAnsi } from "../public-url.ts";

/**
 * Any program of the configuration: `{port}` in its arguments becomes the door's port, `url_pattern` finds the address in
 * its output (its first group, else the whole match), or `url` says it. A link to log in at is what it waits for.
 */
export const command: Provider = {
  name: "command",
  addressSource: "none",
  howToGet: "Set tunnel.command.command in config.toml to a program that is there",
  versionArgs: null,
  checkLogin: async () => ({ ok: true, text: null }),
  plan(input) {
    const fields = createFieldReader("command", input);
    const publicUrl = fields.url("url");
    const words = fields.fromConfig("command");
    const rawPattern = fields.fromConfig("url_pattern");
    fields.end();
    if (words === undefined)
      fields.refuse(
        "command",
        'is not set: write [tunnel.command] command = ["program", "{port}"] in config.toml',
      );
    const [program = "", ...args] = isWords(words)
      ? words
      : fields.refuse("command", "must be a list of texts: the program, then its arguments");
    const pattern = rawPattern === undefined ? null : compile(rawPattern);
    if (pattern === undefined) fields.refuse("url_pattern", "must be a regular expression");
    if (pattern === null && publicUrl === null)
      fields.refuse("url_pattern", "is missing: without it, or url, the address cannot be known");
    return {
      publicUrl,
      secrets: [],
      tellsReady: false,
      hint: () => null,
      command: (port) => ({
        program,
        args: args.map((word) => word.replaceAll("{port}", String(port))),
        env: {},
      }),
      createReader() {
        const readAsking = createAskingReader(null);
        const rules = { tool: "The program", insecureHttp: input.insecureHttp, domains: null };
        return (line) => {
          const text = stripAnsi(line);
          const found = publicUrl === null ? pattern?.exec(text) : null;
          const named = found ? namedAddress(found[1] ?? found[0], rules) : null;
          return named ?? readAsking(text) ?? complaint(readableLine(text));
        };
      },
    };
  },
};

function isWords(raw: unknown): raw is readonly string[] {
  return (
    Array.isArray(raw) &&
    raw.length > 0 &&
    raw.every((word) => typeof word === "string" && !word.includes("\0"))
  );
}

function compile(raw: unknown): RegExp | undefined {
  if (typeof raw !== "string" || raw.length > 1_024) return undefined;
  try {
    return new RegExp(raw, "i");
  } catch {
    // The caller refuses it, with the field's name.
    return undefined;
  }
}
