import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Inhibitor } from "../../../src/daemon/awake/hold-inhibitor.ts";
import type { InhibitorChoice } from "../../../src/daemon/awake/inhibitor-command.ts";
import { createKeepAwake } from "../../../src/daemon/awake/keep-awake.ts";
import { silentLog } from "../../../src/lib/log.ts";
import type { Awake } from "../../../src/protocol/objects.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const found: InhibitorChoice = {
  commands: [
    { program: "/bin/tool", args: ["sleep"] },
    { program: "/bin/tool", args: ["idle"] },
  ],
};

function start() {
  const world = { choice: found, busy: false, failing: new Set<string>() };
  const told: Awake[] = [];
  const tried: string[] = [];
  const holding = new Set<() => void>();
  const keepAwake = createKeepAwake({
    find: () => world.choice,
    async hold({ args: [what = ""] }): Promise<Inhibitor> {
      tried.push(what);
      if (world.failing.has(what)) throw new Error(`no ${what}`);
      let end: () => void = () => undefined;
      const ended = new Promise<void>((resolve) => {
        end = () => {
          holding.delete(end);
          resolve();
        };
      });
      holding.add(end);
      return { ended, release: async () => end() };
    },
    isBusy: () => world.busy,
    announce: (awake) => told.push(awake),
    log: silentLog,
    lingerMs: 2_000,
    retryMs: 60_000,
  });
  return {
    world,
    told,
    tried,
    holding,
    keepAwake,
    /** Work begins or ends. */
    async work(busy: boolean) {
      world.busy = busy;
      keepAwake.look();
      await vi.advanceTimersByTimeAsync(0);
    },
    shown: () => told.map(({ mode, active }) => `${mode} ${active}`),
  };
}

describe("createKeepAwake", () => {
  it("is off and available at first, and tells nothing", () => {
    const { keepAwake, told } = start();
    expect(keepAwake.current()).toEqual({ mode: "off", active: false, available: true });
    expect(told).toEqual([]);
  });

  it("always: holds until it is switched off, and both replies say how things are", async () => {
    const { keepAwake, holding, shown } = start();
    expect(await keepAwake.set("always")).toEqual({ mode: "always", active: true, available: true });
    expect(holding.size).toBe(1);
    expect(await keepAwake.set("always")).toMatchObject({ active: true });
    expect(await keepAwake.set("off")).toEqual({ mode: "off", active: false, available: true });
    expect(holding.size).toBe(0);
    expect(shown()).toEqual(["always false", "always true", "off true", "off false"]);
  });

  it("busy: holds while something runs, and over the gap between two jobs", async () => {
    const { keepAwake, holding, tried, work, shown } = start();
    expect(await keepAwake.set("busy")).toEqual({ mode: "busy", active: false, available: true });
    await work(true);
    expect(holding.size).toBe(1);
    await work(false);
    await vi.advanceTimersByTimeAsync(1_900);
    await work(true);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(holding.size).toBe(1);
    await work(false);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(holding.size).toBe(0);
    expect(tried).toEqual(["sleep"]);
    expect(shown()).toEqual(["busy false", "busy true", "busy false"]);
  });

  it("busy: holds at once when something runs already", async () => {
    const { keepAwake, work } = start();
    await work(true);
    expect(await keepAwake.set("busy")).toMatchObject({ active: true });
  });

  it("takes the second best where the system refuses the best", async () => {
    const { keepAwake, world, tried } = start();
    world.failing.add("sleep");
    expect(await keepAwake.set("always")).toEqual({ mode: "always", active: true, available: true });
    expect(tried).toEqual(["sleep", "idle"]);
  });

  it("without a tool is not available and says why, in the mode that was asked for", async () => {
    const { keepAwake, world } = start();
    world.choice = { missing: "Install it." };
    const refused = {
      mode: "always",
      active: false,
      available: false,
      message: expect.stringContaining("Install it."),
    };
    expect(await keepAwake.set("always")).toEqual(refused);
    expect(keepAwake.current()).toEqual(refused);
    world.choice = found;
    expect(await keepAwake.set("always")).toEqual({ mode: "always", active: true, available: true });
  });

  it("with a tool that fails tells its words, and tries again only now and then however much work there is", async () => {
    const { keepAwake, world, tried, work } = start();
    world.failing = new Set(["sleep", "idle"]);
    await keepAwake.set("busy");
    await work(true);
    expect(keepAwake.current()).toMatchObject({
      available: false,
      message: expect.stringContaining("/bin/tool says: no idle"),
    });
    for (let job = 0; job < 20; job++) await work(true);
    expect(tried).toHaveLength(2);
    world.failing.clear();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(keepAwake.current()).toEqual({ mode: "busy", active: true, available: true });
  });

  it("tells when somebody ended the tool, and takes it again later", async () => {
    const { keepAwake, holding, shown } = start();
    await keepAwake.set("always");
    for (const end of holding) end();
    await vi.advanceTimersByTimeAsync(0);
    expect(keepAwake.current()).toMatchObject({ active: false, available: true });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(keepAwake.current()).toMatchObject({ active: true });
    expect(shown()).toEqual(["always false", "always true", "always false", "always true"]);
  });

  it("lets go when it is closed, and takes nothing after that", async () => {
    const { keepAwake, holding, work } = start();
    await keepAwake.set("busy");
    await work(true);
    await keepAwake.close();
    expect(holding.size).toBe(0);
    await work(true);
    expect(await keepAwake.set("always")).toMatchObject({ active: false });
    await vi.advanceTimersByTimeAsync(120_000);
    expect(holding.size).toBe(0);
  });

  it("ends as it was asked last, however quickly it was asked", async () => {
    const { keepAwake, holding } = start();
    await Promise.all([keepAwake.set("always"), keepAwake.set("off"), keepAwake.set("always")]);
    expect(holding.size).toBe(1);
    await Promise.all([keepAwake.set("off"), keepAwake.set("always"), keepAwake.set("off")]);
    expect(holding.size).toBe(0);
  });
});
