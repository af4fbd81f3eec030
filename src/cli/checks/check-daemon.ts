import { createServer } from "node:net";
import { type Config, configDefaults } from "../../config/config.ts";
import { ConfigError } from "../../config/config-error.ts";
import type { HomePaths } from "../../config/home-paths.ts";
import { loadConfig } from "../../config/load-config.ts";
import { findDaemon } from "../find-daemon.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** Does `config.toml` parse? Yields its values where it does. */
export async function checkConfig(paths: HomePaths): Promise<{ finding: Finding; config: Config | null }> {
  try {
    const config = await loadConfig(paths.config);
    return { finding: ok("config", `${paths.config} is in order, or not there`), config };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { finding: fail("config", error.message, `Edit ${paths.config}`), config: null };
  }
}

/** Does the daemon run, is its file believable, and who holds the port? */
export async function checkDaemon(
  paths: HomePaths,
  env: Readonly<Record<string, string | undefined>>,
  config: Config | null,
): Promise<readonly Finding[]> {
  const found = await findDaemon(paths, env);
  if (found.state === "running") {
    const { file } = found.link;
    return [
      ok("daemon", `runs (pid ${file.pid}, version ${file.version})`),
      ok("port", `${file.port} is held by our own daemon`),
    ];
  }
  const daemon =
    found.state === "absent"
      ? ok("daemon", "does not run; start it with: sallyport daemon start")
      : found.state === "stale" || found.state === "silent"
        ? warn("daemon", found.message, null)
        : fail("daemon", found.message, null);
  return [daemon, await checkPort(config?.port ?? configDefaults.port)];
}

async function checkPort(port: number): Promise<Finding> {
  if (port === 0) return ok("port", "a free one is picked at each start");
  const problem = await tryPort(port);
  if (problem === null) return ok("port", `${port} is free`);
  if (problem === "EADDRINUSE")
    return fail(
      "port",
      `${port} is taken by another program`,
      "Choose another: sallyport daemon start --port N",
    );
  return fail(
    "port",
    `${port} cannot be opened (${problem})`,
    "Choose another: sallyport daemon start --port N",
  );
}

function tryPort(port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    probe.listen({ port, host: "127.0.0.1", exclusive: true }, () => probe.close(() => resolve(null)));
  });
}
