import { parseFixedMasterToken } from "../auth/master-token.ts";
import { readSecretFile } from "../lib/secret-file.ts";
import { StartupError } from "./startup-error.ts";

const maxTokenFileBytes = 4_096;

/**
 * The master token that the user fixed, by `--token-file` or `SALLYPORT_TOKEN`; null when he did not. The file goes first.
 *
 * @throws StartupError `secret`, without the value
 */
export async function readFixedToken(
  tokenFile: string | null,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  if (tokenFile === null && env.SALLYPORT_TOKEN === undefined) return null;
  const source = tokenFile ?? "SALLYPORT_TOKEN";
  try {
    return parseFixedMasterToken(
      tokenFile === null ? (env.SALLYPORT_TOKEN ?? "") : await readTokenFile(tokenFile),
      source,
    );
  } catch (error) {
    if (error instanceof RangeError) throw new StartupError("secret", error.message);
    throw error;
  }
}

async function readTokenFile(path: string): Promise<string> {
  const read = await readSecretFile(path, maxTokenFileBytes);
  if (read.ok) return read.text;
  const step = read.problem === "readable_by_others" ? ` Run: chmod 600 ${path}` : "";
  throw new StartupError("secret", `The token file ${path} cannot be used: ${read.detail}.${step}`);
}
