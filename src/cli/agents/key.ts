import { CredentialsError, parseCredentials } from "../../config/credentials.ts";
import { knownAgent } from "../../config/known-agents.ts";
import { PatchError, patchToml } from "../../config/patch-toml.ts";
import { checkHome } from "../../daemon/check-home.ts";
import { writeFileAtomic } from "../../lib/atomic-file.ts";
import { readSecretFile } from "../../lib/secret-file.ts";
import { exitCodes, failedError, usageError } from "../cli-error.ts";
import { type Call, type CommandSpec, isOn } from "../command.ts";
import { askLine } from "../remotes/ask-line.ts";
import { inline } from "../text.ts";

const maxKeyBytes = 8 * 1024;
const maxFileBytes = 64 * 1024;

export const keyCommand: CommandSpec = {
  usage: "key <name> [variable]",
  about:
    "Keep a key for an agent in credentials.toml, which only you may read. It is asked for, or read from stdin, and counts from the agent's next start on.",
  examples: ["sallyport agents key qwen", "sallyport agents key qwen OPENAI_API_KEY <key.txt"],
  options: [{ flags: "--remove", about: "forget it" }],
  async run(call) {
    const [name = "", word] = call.words;
    const variable = word ?? knownAgent({ name })?.keys[0];
    if (variable === undefined)
      throw usageError(
        `Name the variable that ${inline(name)} reads its key from, as in: sallyport agents key ${inline(name)} OPENAI_API_KEY`,
      );
    const value = isOn(call, "remove") ? null : await readKey(call, variable);
    await changeKey(call, ["agents", name, variable], value);
    await call.out.line(
      value === null
        ? `${inline(variable)} of ${inline(name)} is forgotten.`
        : `Kept as ${inline(variable)} of ${inline(name)}. It counts from the agent's next start on.`,
    );
    return exitCodes.done;
  },
};

async function readKey(call: Call, variable: string): Promise<string> {
  const { keyboard, input } = call.io;
  if (keyboard !== null) {
    const typed = await askLine(call, `${variable} (it is not shown): `, "Nothing was kept.", {
      isHidden: true,
      maxChars: maxKeyBytes,
    });
    return wholeKey(typed);
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    bytes += chunk.length;
    if (bytes > maxKeyBytes) throw usageError("What comes on stdin is too long for a key.");
    chunks.push(chunk);
  }
  return wholeKey(Buffer.concat(chunks).toString("utf8"));
}

function wholeKey(raw: string): string {
  const value = raw.trim();
  if (value === "") throw usageError("There is no key. Type it, or pipe it in: … <key.txt");
  return value;
}

/** The rest of the file stays as it is; what it would become is judged as the daemon judges it. */
async function changeKey(call: Call, path: readonly string[], value: string | null): Promise<void> {
  const file = call.paths.credentials;
  await checkHome(call.paths.home);
  const read = await readSecretFile(file, maxFileBytes);
  if (!read.ok && read.problem !== "missing")
    throw failedError(`${file} is not used: ${read.detail}. Run: chmod 600 ${file}`);
  const text = read.ok ? read.text : "";
  try {
    parseCredentials(text, file);
    const next = patchToml(text, path, value);
    parseCredentials(next, file);
    if (next !== text) await writeFileAtomic(file, next);
  } catch (error) {
    if (error instanceof CredentialsError) throw failedError(error.message);
    if (error instanceof PatchError)
      throw failedError(
        `${file} is written in a way that this cannot change. Write the key into it by hand.`,
      );
    throw error;
  }
}
