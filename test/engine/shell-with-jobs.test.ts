import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createProcessTable } from "../../src/engine/jobs/create-process-table.ts";
import type { Jobs } from "../../src/engine/jobs/jobs.ts";
import { judgeCall } from "../../src/engine/rules/judge-call.ts";
import { engineFixture, type Fixture, local } from "./support/engine-fixture.ts";
import { realJobs } from "./support/real-jobs.ts";

/** The engine with real processes and the real rules. */
let at: Fixture;
let jobs: Jobs;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sallyport-shell-"));
  jobs = await realJobs(folder);
  at = await engineFixture({ jobs, judgeCall, now: Date.now });
});
afterEach(async () => {
  await at.dispose();
  for (const job of jobs.list()) if (job.state === "running") await jobs.kill(job.id);
  await jobs.close();
  await rm(folder, { recursive: true, force: true });
});

async function allow(decision: "allow" | "allow_session" | "deny" = "allow") {
  const asked = await at.event("permission_requested", (event) =>
    at.engine.snapshot().pending.some((request) => request.request_id === event.request_id),
  );
  await at.engine.approve({ type: "approve", request_id: asked.request_id, decision }, local);
  return asked;
}

describe("the shell with real processes", () => {
  it("runs an allowed command in the folder of the tab and streams its output", async () => {
    await writeFile(join(at.project, "README.md"), "hello\n");
    const { turn } = await at.engine.prompt({ type: "prompt", text: "pwd; cat README.md; exit 3" }, local);
    await allow();
    const finished = await at.event("tool_finished");
    expect(finished).toMatchObject({
      exit_code: 3,
      is_error: true,
      output: `${at.project}\nhello\n`,
    });
    expect(await at.event("turn_finished")).toMatchObject({ turn, outcome: "done" });
    const streamed = at.events().flatMap((event) => (event.type === "tool_output" ? [event.text] : []));
    expect(streamed.join("")).toBe(finished.output);
  });

  it("asks before anything runs, and a denied command leaves no trace", async () => {
    const mark = join(at.project, "mark");
    await at.engine.prompt({ type: "prompt", text: `touch ${mark}` }, local);
    await allow("deny");
    await at.event("turn_finished");
    await expect(readFile(mark)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("does not ask again for what was allowed for the session", async () => {
    const { agent, turn } = await at.engine.prompt({ type: "prompt", text: "wc -c /dev/null" }, local);
    const asked = await allow("allow_session");
    expect(asked.allow_session).toBe("bash(wc *)");
    await at.event("turn_finished", (event) => event.turn === turn);
    const second = await at.engine.prompt({ type: "prompt", agent, text: "wc -l /dev/null" }, local);
    await at.event("turn_finished", (event) => event.turn === second.turn);
    expect(at.events().filter((event) => event.type === "permission_requested")).toHaveLength(1);
    await at.engine.prompt({ type: "prompt", agent, text: "wc -l /dev/null; id" }, local);
    await allow("deny");
  });

  it("cancel ends the whole process tree, also what ignores SIGTERM", async () => {
    const pids = join(at.project, "pids");
    const { agent } = await at.engine.prompt(
      {
        type: "prompt",
        text: `trap '' TERM; (trap '' TERM; sh -c 'echo $$ >> ${pids}; exec sleep 300') & echo $$ >> ${pids}; echo up; wait; sleep 300`,
      },
      local,
    );
    await allow();
    await at.event("tool_output", (event) => event.text.includes("up"));
    const written = async () => (await readFile(pids, "utf8")).trim().split("\n").map(Number);
    await expect.poll(written).toHaveLength(2);
    const started = await written();
    await at.engine.cancel(agent, local);
    expect(await at.event("turn_finished")).toMatchObject({ outcome: "cancelled" });
    const processes = createProcessTable(process.platform);
    for (const pid of started) expect(processes?.find(pid)?.ended ?? true).toBe(true);
  });

  it("makes a job of a trailing ampersand that goes on when its agent, its tab and the engine are gone", async () => {
    const { tab } = await at.engine.prompt({ type: "prompt", text: "echo begun; exec sleep 300 &" }, local);
    await allow();
    const finished = await at.event("tool_finished");
    const id = finished.job ?? "";
    await at.engine.closeTab(tab, local);
    await at.engine.close();
    expect(jobs.get(id)).toMatchObject({ state: "running", tab });
    await jobs.kill(id);
    expect(jobs.get(id)).toMatchObject({ state: "killed" });
  });

  it("runs a shell's syntax error as the shell sees it", async () => {
    await at.engine.prompt({ type: "prompt", text: "echo 'open" }, local);
    await allow();
    expect(await at.event("tool_finished")).toMatchObject({ is_error: true, exit_code: 2 });
    expect(await at.event("turn_finished")).toMatchObject({ outcome: "done" });
  });
});
