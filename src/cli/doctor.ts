import { checkAgents, checkCredentials } from "./checks/check-agents.ts";
import { checkConfig, checkDaemon } from "./checks/check-daemon.ts";
import { checkHomeFiles } from "./checks/check-home-files.ts";
import { checkArgon2, checkBrowser, checkNetwork, checkNode } from "./checks/check-machine.ts";
import { checkMainDoor } from "./checks/check-main-door.ts";
import { checkDevices, checkToken } from "./checks/check-secrets.ts";
import { checkTunnelTools } from "./checks/check-tunnel.ts";
import type { Finding } from "./checks/finding.ts";
import { exitCodes } from "./cli-error.ts";
import type { Call, CommandSpec } from "./command.ts";
import { inline } from "./text.ts";

export const doctorCommand: CommandSpec = {
  usage: "doctor",
  about:
    "Look for what is wrong and say what to do about it. Changes nothing. Exit code 1 when something must be done.",
  examples: ["sallyport doctor", "sallyport doctor --json"],
  json: true,
  async run(call) {
    const findings = await examine(call);
    const isWell = findings.every(({ state }) => state !== "fail");
    if (call.json) await call.out.json({ ok: isWell, checks: findings });
    else {
      for (const finding of findings) await call.out.line(lineOf(finding));
      await call.out.line(isWell ? "\nNo fault was found." : "\nFix what is marked FAIL.");
    }
    return isWell ? exitCodes.done : exitCodes.failed;
  },
};

async function examine(call: Call): Promise<readonly Finding[]> {
  const { io, paths } = call;
  const { finding: config, config: values } = await checkConfig(paths);
  const { finding: keys, credentials } = checkCredentials(paths);
  return [
    checkNode(process.version),
    ...(await checkHomeFiles(paths)),
    config,
    await checkToken(paths, io.env),
    ...(await checkDevices(paths, io.now())),
    ...(await checkDaemon(paths, io.env, values)),
    checkNetwork(),
    ...(await checkMainDoor(paths, io.env, values)),
    ...(await checkTunnelTools(paths, io.env, values)),
    keys,
    ...(await checkAgents(io.env, values, credentials)),
    await checkArgon2(),
    await checkBrowser(io.platform, io.env),
  ];
}

function lineOf(finding: Finding): string {
  const mark = { ok: "ok  ", warn: "WARN", fail: "FAIL" }[finding.state];
  const next = finding.next === null ? "" : `\n      -> ${inline(finding.next)}`;
  return `${mark}  ${finding.check.padEnd(8)} ${inline(finding.message)}${next}`;
}
