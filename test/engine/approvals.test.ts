import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { TurnContext } from "../../src/engine/runtimes/runtime.ts";
import { actor, engineFixture, type Fixture, local } from "./support/engine-fixture.ts";
import { failWrites, ofFile } from "./support/failing-disk.ts";

let at: Fixture;
let restore: (() => void) | null = null;
beforeEach(async () => {
  at = await engineFixture();
});
afterEach(async () => {
  restore?.();
  restore = null;
  await at.dispose();
});

async function asked(text = "make") {
  const receipt = await at.engine.prompt({ type: "prompt", text }, local);
  const request = await at.event("permission_requested", (event) => event.turn === receipt.turn);
  return { receipt, request, request_id: request.request_id };
}

describe("approve", () => {
  it("lets exactly the first of a hundred answers count and tells the others who it was", async () => {
    const { request_id } = await asked();
    const results = await Promise.allSettled(
      Array.from({ length: 100 }, (_, n) =>
        at.engine.approve(
          { type: "approve", request_id, decision: n % 2 === 0 ? "allow" : "deny" },
          actor(`device ${n}`),
        ),
      ),
    );
    expect(results[0]?.status).toBe("fulfilled");
    for (const result of results.slice(1))
      expect(result).toMatchObject({
        reason: { code: "conflict", reason: "already_resolved", message: "Answered on device 0." },
      });
    await at.jobs.nextCall();
    expect(at.jobs.calls).toHaveLength(1);
    expect(at.events().filter((event) => event.type === "permission_resolved")).toHaveLength(1);
  });

  it("with the digest of another call is a conflict, and the request stays open", async () => {
    const { request_id } = await asked();
    await expect(
      at.engine.approve({ type: "approve", request_id, decision: "allow", digest: "other" }, local),
    ).rejects.toMatchObject({ code: "conflict", reason: "changed" });
    expect(at.engine.snapshot().pending).toHaveLength(1);
    expect(at.jobs.calls).toHaveLength(0);
    await at.engine.approve({ type: "approve", request_id, decision: "deny" }, local);
  });

  it("has another digest for every call that differs in what a person cannot see", async () => {
    const one = await asked("echo a");
    const two = await asked("echo a ");
    const three = await asked("echo a\u200b");
    expect(new Set([one, two, three].map(({ request }) => request.digest)).size).toBe(3);
  });

  it("knows no request that never was", async () => {
    await expect(
      at.engine.approve({ type: "approve", request_id: "x", decision: "allow" }, local),
    ).rejects.toMatchObject({ code: "not_found" });
  });

  it("of a device that is revoked while its answer is being written does not count", async () => {
    const { request_id } = await asked();
    const phone = actor("phone");
    const answer = at.engine.approve({ type: "approve", request_id, decision: "allow" }, phone);
    phone.revoke();
    await expect(answer).rejects.toMatchObject({ code: "unauthorized" });
    expect(at.jobs.calls).toHaveLength(0);
    expect(at.engine.snapshot().pending).toHaveLength(1);
    await at.engine.approve({ type: "approve", request_id, decision: "deny" }, actor("laptop"));
    expect(await at.event("permission_resolved")).toMatchObject({ by: { name: "laptop" } });
  });

  it("is refused while the disk is full, nothing runs, and can be given again", async () => {
    const { receipt, request_id } = await asked();
    restore = failWrites({
      code: "ENOSPC",
      partialBytes: 9,
      when: ofFile(`${at.home}/sessions/${receipt.agent}.jsonl`),
    });
    const answer = { type: "approve", request_id, decision: "allow" } as const;
    await expect(at.engine.approve(answer, local)).rejects.toMatchObject({ code: "disk_full", status: 503 });
    expect(at.jobs.calls).toHaveLength(0);
    restore();
    await at.engine.approve(answer, local);
    (await at.jobs.nextCall()).end();
    await at.event("turn_finished");
    expect((await at.transcript(receipt.agent)).map((record) => record.type)).toEqual([
      "agent_started",
      "turn_started",
      "user_message",
      "tool_started",
      "permission_requested",
      "permission_resolved",
      "tool_finished",
      "turn_finished",
    ]);
  });

  it("is on disk before the command runs", async () => {
    const { receipt, request_id } = await asked();
    let onDisk: string[] = [];
    const run = at.jobs.runCall;
    at.jobs.runCall = async (spec) => {
      onDisk = (await at.transcript(receipt.agent)).map((record) => record.type);
      return run(spec);
    };
    await at.engine.approve({ type: "approve", request_id, decision: "allow" }, local);
    (await at.jobs.nextCall()).end();
    expect(onDisk.at(-1)).toBe("permission_resolved");
  });

  it("races with cancel: either the answer counts and the cancelled turn runs nothing, or it is over", async () => {
    for (let round = 0; round < 20; round += 1) {
      const { receipt, request_id } = await asked();
      const [answer] = await Promise.allSettled([
        at.engine.approve({ type: "approve", request_id, decision: "allow" }, local),
        at.engine.cancel(receipt.agent, local),
      ]);
      const finished = await at.event("turn_finished", (event) => event.turn === receipt.turn);
      expect(finished.outcome).toBe("cancelled");
      const resolved = at
        .events()
        .filter((event) => event.type === "permission_resolved" && event.request_id === request_id);
      expect(resolved).toHaveLength(1);
      expect(resolved[0]).toMatchObject({ allowed: answer.status === "fulfilled" });
    }
    expect(at.jobs.calls.filter((call) => !call.spec.signal.aborted)).toEqual([]);
  });
});

describe("allow_session", () => {
  it("remembers the rule that was shown for this agent, and for no other", async () => {
    await at.restart({
      judgeCall: (call, _mode, _rules, session) =>
        session.includes(`bash(${call.subject})`)
          ? { verdict: "allow", by: "session" }
          : { verdict: "ask", allowSession: `bash(${call.subject})` },
    });
    at.jobs.answer = () => ({});
    const { receipt, request_id, request } = await asked("wc -l");
    expect(request.allow_session).toBe("bash(wc -l)");
    await at.engine.approve({ type: "approve", request_id, decision: "allow_session" }, local);
    await at.event("turn_finished", (event) => event.turn === receipt.turn);
    const again = await at.engine.prompt({ type: "prompt", agent: receipt.agent, text: "wc -l" }, local);
    await at.event("turn_finished", (event) => event.turn === again.turn);
    expect(at.events().filter((event) => event.type === "permission_requested")).toHaveLength(1);
    await asked("wc -l");
    expect(at.engine.snapshot().pending).toHaveLength(1);
  });

  it("is refused where nothing can be remembered, and the request stays open", async () => {
    await at.restart({ judgeCall: () => ({ verdict: "ask", allowSession: null }) });
    const { request_id } = await asked();
    await expect(
      at.engine.approve({ type: "approve", request_id, decision: "allow_session" }, local),
    ).rejects.toMatchObject({ code: "invalid_field", field: "decision" });
    expect(at.engine.snapshot().pending).toHaveLength(1);
  });
});

describe("a job that a device without approve asks for", () => {
  const driver = () => actor("driver", ["view", "drive"]);

  it("waits as a request without agent, turn and call, and starts when it is allowed", async () => {
    const result = await at.engine.startJob({ type: "job_start", command: "npm test" }, driver());
    expect(result).toEqual({ request_id: expect.any(String) });
    expect(at.jobs.started).toEqual([]);
    const [request] = at.engine.snapshot().pending;
    expect(request).toMatchObject({
      ...result,
      agent: null,
      turn: null,
      call_id: null,
      tool: "bash",
      summary: "npm test",
      allow_session: null,
    });
    await at.engine.approve(
      {
        type: "approve",
        request_id: request?.request_id ?? "",
        decision: "allow",
        digest: request?.digest ?? "",
      },
      local,
    );
    await at.change((change) => change.type === "job_started");
    expect(at.jobs.started).toMatchObject([{ command: "npm test", agent: null, cwd: at.project }]);
    expect(at.engine.snapshot().pending).toEqual([]);
  });

  it("does not start when it is denied", async () => {
    const result = await at.engine.startJob({ type: "job_start", command: "npm test" }, driver());
    const request_id = "request_id" in result ? result.request_id : "";
    await at.engine.approve({ type: "approve", request_id, decision: "deny" }, local);
    expect(at.events().at(-1)).toMatchObject({ type: "permission_resolved", agent: null, allowed: false });
    expect(at.jobs.started).toEqual([]);
  });

  it("dies with the device: a revoked one leaves nothing that could be allowed", async () => {
    const phone = driver();
    const result = await at.engine.startJob({ type: "job_start", command: "npm test" }, phone);
    phone.revoke();
    await at.event("permission_resolved");
    expect(at.engine.snapshot().pending).toEqual([]);
    const request_id = "request_id" in result ? result.request_id : "";
    await expect(
      at.engine.approve({ type: "approve", request_id, decision: "allow" }, local),
    ).rejects.toMatchObject({ reason: "turn_over" });
    expect(at.jobs.started).toEqual([]);
  });

  it("does not start for a device that lost drive before the answer", async () => {
    const scopes: ("view" | "drive")[] = ["view", "drive"];
    const phone = actor("phone", scopes);
    const result = await at.engine.startJob({ type: "job_start", command: "npm test" }, phone);
    scopes.pop();
    const request_id = "request_id" in result ? result.request_id : "";
    await at.engine.approve({ type: "approve", request_id, decision: "allow" }, local);
    expect(await at.change((change) => change.type === "notice")).toMatchObject({
      message: expect.stringContaining("may not drive"),
    });
    expect(at.jobs.started).toEqual([]);
  });

  it("is bound by deny rules, which bind those who may approve as well", async () => {
    await at.restart({ judgeCall: () => ({ verdict: "deny", by: "bash(npm *)" }) });
    for (const who of [driver(), local, actor("phone")]) {
      await expect(at.engine.startJob({ type: "job_start", command: "npm test" }, who)).rejects.toMatchObject(
        { code: "rule_denied", status: 403 },
      );
    }
    expect(at.jobs.started).toEqual([]);
    expect(at.engine.snapshot().pending).toEqual([]);
  });

  it("cannot pile up requests: one device has sixteen at most", async () => {
    const phone = driver();
    for (let n = 0; n < 16; n += 1)
      await at.engine.startJob({ type: "job_start", command: `echo ${n}` }, phone);
    await expect(at.engine.startJob({ type: "job_start", command: "echo" }, phone)).rejects.toMatchObject({
      code: "conflict",
    });
    expect(at.engine.snapshot().pending).toHaveLength(16);
    const tab = at.engine.snapshot().workspace.tabs[0]?.id ?? "";
    await at.engine.closeTab(tab, local);
    expect(at.engine.snapshot().pending).toEqual([]);
  });
});

describe("a job that somebody with approve starts", () => {
  it("starts at once in the tab's folder and can be killed", async () => {
    const result = await at.engine.startJob({ type: "job_start", command: "npm test" }, actor("phone"));
    const job = "job" in result ? result.job : null;
    expect(job).toMatchObject({ state: "running", cwd: at.project, agent: null });
    expect(at.engine.counts()).toMatchObject({ running_jobs: 1 });
    await at.engine.killJob(job?.id ?? "", local);
    expect(at.changes.at(-1)).toMatchObject({ type: "job_finished", job: { state: "killed" } });
  });

  it("is unknown by anything that is no job id, before that reaches a path", async () => {
    for (const id of ["../../state", "nope", "AAAAAAAA", "00000000"]) {
      await expect(at.engine.killJob(id, local)).rejects.toMatchObject({ code: "not_found" });
      await expect(at.engine.readJob({ job: id })).rejects.toMatchObject({ code: "not_found" });
      expect(() => at.engine.followJob(id, () => undefined)).toThrow(
        expect.objectContaining({ code: "not_found" }),
      );
    }
  });

  it("is not started by a device that is revoked in the moment before", async () => {
    const phone = actor("phone");
    const starting = at.engine.startJob({ type: "job_start", command: "npm test" }, phone);
    phone.revoke();
    await expect(starting).rejects.toMatchObject({ code: "unauthorized" });
    expect(at.jobs.started).toEqual([]);
  });
});

describe("questions", () => {
  it("go to every client; the first answer wins and an end without answer counts as cancelled", async () => {
    const answers: unknown[] = [];
    await at.restart({
      runtimes: [
        {
          name: "asker",
          needsTrust: true,
          takesModel: true,
          checkPrompt: () => undefined,
          async runTurn(context: TurnContext) {
            answers.push(
              await context.askQuestion({
                callId: "c1",
                subagent: null,
                questions: [{ prompt: "Which store?", options: [], multiple: false }],
              }),
            );
            return { outcome: "done" };
          },
        },
      ],
    });
    const { id } = await at.engine.startAgent({ type: "agent_start", runtime: "asker", model: "m" }, local);
    await at.engine.prompt({ type: "prompt", agent: id, text: "go" }, local);
    const question = await at.event("question_asked");
    expect(at.engine.snapshot().questions).toMatchObject([{ request_id: question.request_id, agent: id }]);
    const answer = {
      type: "answer" as const,
      request_id: question.request_id,
      answers: ["sqlite"],
      cancelled: false,
    };
    await expect(at.engine.answer({ ...answer, answers: [] }, local)).rejects.toMatchObject({
      code: "invalid_field",
    });
    await at.engine.answer(answer, actor("phone"));
    await expect(at.engine.answer(answer, local)).rejects.toMatchObject({
      reason: "already_resolved",
      message: "Answered on phone.",
    });
    await at.event("turn_finished");
    const second = await at.engine.prompt({ type: "prompt", agent: id, text: "go" }, local);
    await at.event("question_asked", (event) => event.turn === second.turn);
    await at.engine.cancel(id, local);
    expect(answers).toEqual([
      { answers: ["sqlite"], cancelled: false },
      { answers: [], cancelled: true },
    ]);
    expect(at.engine.snapshot().questions).toEqual([]);
  });
});
