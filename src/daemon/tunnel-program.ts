import { homedir } from "node:os";
import { join } from "node:path";
import { findProgram, isExecutable } from "../lib/find-program.ts";

/** Where tools are put that a service's short PATH does not name. */
const usualFolders = ["/usr/local/bin", "/opt/homebrew/bin", "/usr/bin", "/bin", "/snap/bin"];
const macApps: Readonly<Record<string, string>> = {
  tailscale: "/Applications/Tailscale.app/Contents/MacOS/Tailscale",
};

/**
 * The absolute path of a tunnel's program, or null: a path as it is, a name by PATH, then by the places where such tools
 * are, then in `bin` in the home.
 */
export function toolPath(
  wanted: string,
  where: { readonly home: string; readonly environment: Readonly<Record<string, string | undefined>> },
): string | null {
  const path = wanted.startsWith("~/") ? join(homedir(), wanted.slice(2)) : wanted;
  const folders = [...usualFolders, join(where.home, "bin")].join(":");
  const app = process.platform === "darwin" ? macApps[path] : undefined;
  return (
    findProgram(path, where.environment.PATH) ??
    findProgram(path, folders) ??
    (app !== undefined && isExecutable(app) ? app : null)
  );
}
