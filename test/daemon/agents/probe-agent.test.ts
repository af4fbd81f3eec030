import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { probeAgent } from "../../../src/daemon/agents/probe-agent.ts";

const fixture = fileURLToPath(new URL("../../fixtures/agents/scripted.js", import.meta.url));

function probe(args: readonly string[], timeoutMs: number) {
  return probeAgent(
    {
      name: "scripted",
      title: "Scripted",
      command: process.execPath,
      args: [fixture, ...args],
      env: {},
      secrets: [],
      loginHint: null,
      keyHint: null,
      authMethod: null,
    },
    { environment: process.env, cwd: tmpdir(), timeoutMs },
  );
}

describe("a look at an agent", () => {
  it("tells what it says of itself", async () => {
    expect(await probe(["--login=env:SCRIPTED_API_KEY"], 60_000)).toMatchObject({
      agent: "Scripted agent",
      version: "1.2.3",
      authMethods: ["Log in by env:SCRIPTED_API_KEY"],
      keyVariables: ["SCRIPTED_API_KEY"],
    });
  });

  it("that never answers is given up, in words, and others are looked at", async () => {
    await expect(probe(["--never-answers"], 300)).rejects.toMatchObject({
      code: "not_supported",
      message: expect.stringContaining("Scripted did not answer in time"),
    });
  });
});
