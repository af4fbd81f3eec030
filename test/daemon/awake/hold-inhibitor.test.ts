import { describe, expect, it, vi } from "vitest";
import { holdInhibitor } from "../../../src/daemon/awake/hold-inhibitor.ts";
import { readProcessIdentity } from "../../../src/lib/process-identity.ts";

/** Options behind the tool's own are the command that it runs, as with the real ones. */
const tool = (script: string, holdMs = 20_000) =>
  holdInhibitor(
    { program: "/bin/sh", args: ["-c", script, "tool", "/bin/sh", "-c", "echo held; exec cat >/dev/null"] },
    { env: { PATH: process.env.PATH ?? "" }, holdMs, graceMs: 100 },
  );

describe("holdInhibitor", () => {
  it("holds once the tool has run what it was given, and lets go", async () => {
    const held = await tool('exec "$@"');
    await held.release();
    await held.ended;
  });

  it("lets go of a tool that does not hear SIGTERM and reads nothing", async () => {
    const held = await tool("trap '' TERM; echo held; while :; do sleep 0.05; done");
    await held.release();
  });

  it("tells when somebody ended the tool", async () => {
    const held = await tool("echo held; exec 1>&-; sleep 0.1");
    await held.ended;
  });

  it.each([
    ["echo Access denied >&2; exit 1", "Access denied"],
    ["exit 3", "it ended at once"],
  ])("%j does not hold, and its words are told", async (script, words) => {
    await expect(tool(script)).rejects.toThrow(words);
  });

  it("ends a tool that takes too long, together with what it started", async () => {
    const failing = tool("sleep 300 & echo pid $! >&2; wait", 1_500);
    const { message } = await failing.then(
      () => new Error("it held"),
      (error: Error) => error,
    );
    const pid = Number(/pid (\d+)/.exec(message)?.[1]);
    expect(pid).toBeGreaterThan(1);
    await vi.waitFor(async () => expect(await readProcessIdentity(pid)).toBeNull(), 60_000);
  });

  it("does not hold with a program that does not exist", async () => {
    await expect(
      holdInhibitor({ program: "/nowhere/tool", args: [] }, { env: {}, holdMs: 20_000, graceMs: 100 }),
    ).rejects.toThrow("ENOENT");
  });
});
