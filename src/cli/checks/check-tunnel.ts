import type { Config } from "../../config/config.ts";
import type { HomePaths } from "../../config/home-paths.ts";
import { examineTools } from "../../daemon/examine-tools.ts";
import { type Finding, ok, warn } from "./finding.ts";

/** The programs that tunnels are made with. None of them is needed until it is asked for, so nothing here is a fault. */
export async function checkTunnelTools(
  paths: HomePaths,
  env: Readonly<Record<string, string | undefined>>,
  config: Config | null,
): Promise<readonly Finding[]> {
  const reports = await examineTools(paths, env, config);
  return reports.map((report) =>
    report.ok ? ok("tunnel", report.text) : warn("tunnel", report.text, report.next),
  );
}
