import { spawn } from "node:child_process";
import { readFile, unlink } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname } from "node:path";
import { makePrivateFolder, writeFileAtomic } from "../lib/atomic-file.ts";
import { exitCodes, failedError, usageError } from "./cli-error.ts";
import { type Call, type CommandSpec, isOn } from "./command.ts";
import { findDaemon } from "./find-daemon.ts";
import { quoteWord } from "./quote.ts";
import { type ServicePlan, servicePlan } from "./service-file.ts";

const dryRun = { flags: "--dry-run", about: "say what would be done, and do nothing" };

const install: CommandSpec = {
  usage: "install",
  about: "Run the daemon as a service of yours: from your login on, and again when it ends in failure.",
  examples: ["sallyport service install --dry-run", "sallyport service install"],
  json: true,
  options: [dryRun],
  async run(call) {
    const plan = planOf(call);
    if (isOn(call, "dryRun")) return show(call, plan, "install", plan.install);
    const found = await findDaemon(call.paths, call.io.env);
    if (found.state === "running" && (await fileText(plan.path)) === null)
      throw failedError(
        "The daemon runs already, not as a service. First: sallyport daemon stop",
        "conflict",
      );
    await makePrivateFolder(dirname(plan.path));
    await writeFileAtomic(plan.path, plan.text);
    await call.out.note(`Wrote ${plan.path}`);
    for (const words of plan.install) await runStep(call, words);
    return done(call, plan, "The daemon is a service of yours now. See it: sallyport daemon status");
  },
};

const uninstall: CommandSpec = {
  usage: "uninstall",
  about: "End the service and remove its file. The home with its devices, jobs and transcripts stays.",
  examples: ["sallyport service uninstall"],
  json: true,
  options: [dryRun],
  async run(call) {
    const plan = planOf(call);
    if (isOn(call, "dryRun")) return show(call, plan, "uninstall", plan.uninstall);
    if ((await fileText(plan.path)) === null)
      throw failedError(`There is no service: ${plan.path} does not exist.`, "not_found");
    // One that is not loaded cannot be ended; its file goes all the same.
    for (const words of plan.uninstall)
      await runStep(call, words).catch((error: Error) => call.out.note(`sallyport: ${error.message}`));
    await unlink(plan.path);
    return done(call, plan, `Removed ${plan.path}`);
  },
};

export const serviceCommand: CommandSpec = {
  usage: "service",
  about: "The daemon as a service of this user: systemd on Linux, launchd on macOS.",
  examples: ["sallyport service install --dry-run"],
  children: [install, uninstall],
};

function planOf(call: Call): ServicePlan {
  const plan = servicePlan(call.io.platform, process.getuid?.() ?? 0, {
    command: [...call.io.self, "daemon", "run"],
    userHome: call.io.env.HOME ?? homedir(),
    home: call.paths.home,
  });
  if (plan === null)
    throw usageError("This system's services are not known. Let yours run: sallyport daemon run");
  return plan;
}

async function show(
  call: Call,
  plan: ServicePlan,
  what: "install" | "uninstall",
  steps: ServicePlan["install"],
): Promise<number> {
  const lines = steps.map(commandLine);
  if (call.json) {
    const { manager, path, text } = plan;
    await call.out.json({ manager, path, ...(what === "install" ? { text } : {}), commands: steps });
    return exitCodes.done;
  }
  await call.out.line(what === "install" ? `${plan.path}:\n\n${plan.text}\nThen:` : `Runs:`);
  for (const line of lines) await call.out.line(`  ${line}`);
  if (what === "uninstall") await call.out.line(`Then removes ${plan.path}`);
  return exitCodes.done;
}

async function done(call: Call, { manager, path }: ServicePlan, message: string): Promise<number> {
  if (call.json) await call.out.json({ type: "ack", manager, path });
  else await call.out.line(message);
  return exitCodes.done;
}

async function runStep(call: Call, words: readonly string[]): Promise<void> {
  const [program = "", ...rest] = words;
  await call.out.note(`Running: ${commandLine(words)}`);
  const child = spawn(program, rest, { stdio: ["ignore", "ignore", "pipe"] });
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => {
    if (errors.length < 2_000) errors += chunk;
  });
  const code = await new Promise<number | null>((resolve) => {
    child.once("error", () => resolve(127));
    child.once("close", resolve);
  });
  if (code !== 0) throw failedError(`${commandLine(words)} failed (${code}). ${errors.trim()}`.trim());
}

function commandLine(words: readonly string[]): string {
  return words.map(quoteWord).join(" ");
}

async function fileText(path: string): Promise<string | null> {
  return readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
}
