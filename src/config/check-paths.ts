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

const namePattern = /^[a-z0-9][a-z0-9_-]{0,31}$/i;

/** A script's name becomes the name of a model. */
export function checkReplay(raw: RawConfig): ConfigProblem | null {
  const wrong = Object.keys(raw.replay ?? {}).find((name) => !namePattern.test(name));
  return wrong === undefined
    ? null
    : { key: `replay.${wrong}`, message: "must be a name of letters, digits, - and _." };
}
