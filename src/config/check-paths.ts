import { isAbsolute } from "node:path";
import type { ConfigProblem } from "./config-error.ts";
import type { RawConfig } from "./schema.ts";

/** Paths are absolute or below the user's home: a relative one would depend on where the daemon was started. */
export function checkPaths(raw: RawConfig): ConfigProblem | null {
  const written: [string, string | undefined][] = [
    ["daemon.browse_root", raw.daemon?.browse_root],
    ["tls.cert", raw.tls?.cert],
    ["tls.key", raw.tls?.key],
    ["tunnel.probe_ca", raw.tunnel?.probe_ca],
  ];
  for (const [key, path] of written)
    if (path !== undefined && !isAbsolute(path) && path !== "~" && !path.startsWith("~/"))
      return { key, message: "must be an absolute path, or begin with ~/." };
  return null;
}

/** An agent's name becomes the name of a runtime in commands and on screens. */
export function checkAgents(raw: RawConfig): ConfigProblem | null {
  for (const name of Object.keys(raw.agents ?? {})) {
    if (!/^[a-z0-9][a-z0-9_-]{0,31}$/i.test(name))
      return { key: `agents.${name}`, message: "must be a name of letters, digits, - and _." };
    if (name === "shell" || name === "acp" || name === "model")
      return { key: `agents.${name}`, message: "is the name of a built-in runtime. Choose another." };
  }
  return null;
}
