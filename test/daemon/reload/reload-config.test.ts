import { describe, expect, it } from "vitest";
import type { Config } from "../../../src/config/config.ts";
import { parseConfig } from "../../../src/config/parse-config.ts";
import { createLiveConfig } from "../../../src/daemon/live-config.ts";
import { type ConfigPart, createReloadConfig } from "../../../src/daemon/reload/reload-config.ts";
import { silentLog } from "../../../src/lib/log.ts";

const parse = (text: string): Config => parseConfig(text, { path: "config.toml", userHome: "/home/x" });

function start(first = "") {
  const live = createLiveConfig(parse(first));
  const told: { readonly type: string; readonly message?: string }[] = [];
  const steps: string[] = [];
  let text: string | Error = first;
  let refusing: string | null = null;
  const part = (name: string): ConfigPart => ({
    async prepare(next) {
      if (refusing === name) throw new Error(`${name} cannot`);
      steps.push(`prepare ${name} ${next.idleMinutes}`);
      return {
        commit: () => void steps.push(`commit ${name} ${live.current.idleMinutes}`),
        abandon: () => void steps.push(`abandon ${name}`),
      };
    },
  });
  const reload = createReloadConfig({
    load: async () => {
      if (text instanceof Error) throw text;
      return parse(text);
    },
    live,
    parts: [part("one"), part("two"), { prepare: async () => null }],
    announce: (change) => told.push(change),
    log: silentLog,
  });
  return {
    live,
    told,
    steps,
    write(next: string | Error) {
      text = next;
      return reload.run(false);
    },
    ask: () => reload.run(true),
    refuse: (name: string) => {
      refusing = name;
    },
  };
}

const idle = (minutes: number) => `[daemon]\nidle_minutes = ${minutes}\n`;

describe("createReloadConfig", () => {
  it("asks all parts before anything counts, then tells", async () => {
    const { live, told, steps, write } = start();
    await write(idle(5));
    expect(live.current.idleMinutes).toBe(5);
    expect(steps).toEqual(["prepare one 5", "prepare two 5", "commit one 5", "commit two 5"]);
    expect(told).toEqual([{ type: "reloaded" }]);
  });

  it("keeps the old settings whole when one part refuses, and says why", async () => {
    const { live, told, steps, write, refuse } = start();
    refuse("two");
    await write(idle(5));
    expect(live.current.idleMinutes).toBe(120);
    expect(steps).toEqual(["prepare one 5", "abandon one"]);
    expect(told).toEqual([{ type: "notice", message: expect.stringContaining("two cannot") }]);
    refuse("nobody");
    await write(idle(5));
    expect(live.current.idleMinutes).toBe(5);
  });

  it.each([
    ["[daemon]\nidle_minutes = -1\n", "config.toml line 2: daemon.idle_minutes"],
    ["prot = 1\n", "Did you mean port?"],
    ["[rules\n", "config.toml line 1"],
  ])("refuses %j and names line and key", async (bad, words) => {
    const { live, told, steps, write } = start(idle(5));
    await write(bad);
    expect(live.current.idleMinutes).toBe(5);
    expect(steps).toEqual([]);
    expect(told).toEqual([{ type: "notice", message: expect.stringContaining(words) }]);
  });

  it("says nothing when nothing changed, unless a person asked", async () => {
    const { told, write, ask } = start(idle(5));
    await write(`# a comment\n${idle(5)}`);
    expect(told).toEqual([]);
    await ask();
    expect(told).toEqual([{ type: "reloaded" }]);
  });

  it("keeps what counts after a start only, and says once how to get it", async () => {
    const { live, told, write } = start("port = 7801\n");
    await write(`port = 7802\n${idle(5)}`);
    expect([live.current.port, live.current.idleMinutes]).toEqual([7_801, 5]);
    expect(told).toEqual([
      { type: "reloaded" },
      { type: "notice", message: expect.stringMatching(/afresh: port\. Run: sallyport daemon stop/) },
    ]);
    await write(`port = 7802\n${idle(6)}`);
    expect(told.slice(2)).toEqual([{ type: "reloaded" }]);
  });

  it("does one at a time, in order", async () => {
    const { live, steps, write } = start();
    await Promise.all([write(idle(5)), write(idle(6))]);
    expect(live.current.idleMinutes).toBe(6);
    expect(steps.map((step) => step.split(" ")[0])).toEqual(["prepare", "prepare", "commit", "commit"]);
  });
});
