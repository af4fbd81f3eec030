import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AgentEvent } from "../../src/protocol/events.ts";
import { disposeDaemons, startTestDaemon, type TestDaemon } from "../helpers/daemon.ts";

const scripted = fileURLToPath(new URL("../fixtures/agents/scripted.js", import.meta.url));

let folder = "";
let config = "";
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "sallyport-acp-e2e-")));
  const args = [
    scripted,
    `--log=${folder}/log`,
    `--memory=${folder}/memory`,
    "--ignore-sigterm",
    "--ignore-eof",
    "--leave-children",
  ];
  config = `[agents.scripted]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify(args)}\n`;
});
afterEach(async () => {
  await disposeDaemons();
  await rm(folder, { recursive: true, force: true });
});

async function logged(word: string): Promise<string[]> {
  const text = await readFile(join(folder, "log"), "utf8").catch(() => "");
  return text
    .split("\n")
    .flatMap((line) => (line.startsWith(`${word} `) ? [line.slice(word.length + 1)] : []));
}
const processes = async () => [...(await logged("started")), ...(await logged("child"))].map(Number);

function isGone(pid: number): boolean {
  if (!existsSync(`/proc/${pid}`)) return true;
  try {
    return readFileSync(`/proc/${pid}/stat`, "latin1").replace(/^.*\) /s, "")[0] === "Z";
  } catch {
    return true;
  }
}

async function command(
  daemon: TestDaemon,
  body: Readonly<Record<string, unknown>>,
): Promise<Record<string, string>> {
  const answer = await daemon.request("POST", "/api/command", { body });
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.json as Record<string, string>;
}
async function records(daemon: TestDaemon, agent: string): Promise<readonly AgentEvent[]> {
  const answer = await daemon.request("GET", `/api/sessions/${agent}?limit=1000`);
  return (answer.json as { records: AgentEvent[] }).records;
}
async function until<T>(find: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    await delay(20);
  }
}

describe("an ACP agent of a real daemon", () => {
  it("leaves nothing behind a kill -9 of the daemon, and its session goes on with the next one", async () => {
    const daemon = await startTestDaemon({ config, cwd: folder });
    const started = await command(daemon, { type: "agent_start", runtime: "scripted" });
    const agent = started.agent ?? "";
    await command(daemon, {
      type: "prompt",
      agent,
      text: JSON.stringify([{ do: "say", text: "here" }, { do: "hang" }]),
    });
    await until(async () =>
      (await processes()).length === 3 && (await logged("prompt")).length === 1 ? true : undefined,
    );
    const before = await processes();
    await daemon.kill9();
    await until(async () => (before.every(isGone) ? true : undefined));

    const next = await startTestDaemon({ home: daemon.home, cwd: folder });
    const prompted = await command(next, { type: "prompt", agent, text: "again" });
    const all = await until(async () => {
      const found = await records(next, agent);
      return found.some((each) => each.type === "turn_finished" && each.turn === prompted.turn)
        ? found
        : undefined;
    });
    expect(all.filter((each) => each.type === "turn_finished").map((each) => each.outcome)).toEqual([
      "failed",
      "done",
    ]);
    expect(await logged("load")).toHaveLength(1);
    const after = await processes();
    expect(await next.stop()).toBe(0);
    expect(after.every(isGone)).toBe(true);
  });
});
