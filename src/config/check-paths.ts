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
    ...Object.entries(raw.replay ?? {}).map(([name, { script }]): [string, string] => [
      `replay.${name}.script`,
      script,
    ]),
  ];
  for (const [key, path] of written)
    if (path !== undefined && !isAbsolute(path) && path !== "~" && !path.startsWith("~/"))
      return { key, message: "must be an absolute path, or begin with ~/." };
  return null;
}

/** Runtimes that are built in; an agent of the configuration is one of its own name beside them. */
const builtIn = ["shell", "replay", "acp", "model"];
const namePattern = /^[a-z0-9][a-z0-9_-]{0,31}$/i;
const nameText = "must be a name of letters, digits, - and _.";

/** An agent's name becomes the name of a runtime in commands and on screens. */
export function checkAgents(raw: RawConfig): ConfigProblem | null {
  for (const name of Object.keys(raw.agents ?? {})) {
    if (!namePattern.test(name)) return { key: `agents.${name}`, message: nameText };
    if (builtIn.includes(name))
      return { key: `agents.${name}`, message: "is the name of a built-in runtime. Choose another." };
  }
  return null;
}

/** A script's name becomes the name of a model. */
export function checkReplay(raw: RawConfig): ConfigProblem | null {
  const wrong = Object.keys(raw.replay ?? {}).find((name) => !namePattern.test(name));
  return wrong === undefined ? null : { key: `replay.${wrong}`, message: nameText };
}

/** What runs in new tabs must exist. */
export function checkRuntime(raw: RawConfig): ConfigProblem | null {
  const runtime = raw.daemon?.runtime ?? "shell";
  const known = ["shell", "replay", ...Object.keys(raw.agents ?? {})];
  if (!known.includes(runtime))
    return { key: "daemon.runtime", message: `is no runtime here. Known: ${known.join(", ")}.` };
  return null;
}
