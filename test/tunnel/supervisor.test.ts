import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { silentLog } from "../../src/lib/log.ts";
import { readProcessIdentity } from "../../src/lib/process-identity.ts";
import type { Tunnel } from "../../src/protocol/objects.ts";
import type { ProbeResult } from "../../src/tunnel/probe.ts";
import { command } from "../../src/tunnel/providers/command.ts";
import { createSupervisor, type RememberedChild, type Supervisor } from "../../src/tunnel/supervisor.ts";
import { tunnelTiming } from "../../src/tunnel/timing.ts";

const fast = {
  ...tunnelTiming,
  probeEveryMs: 20,
  healthEveryMs: 100,
  retryAfterMs: [10],
  addressMs: 1_500,
  proofMs: 1_500,
  hopelessMs: 100,
};

let folder: string;
let supervisors: Supervisor[];
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "sallyport-tunnel-")));
  supervisors = [];
});
afterEach(async () => {
  await Promise.all(supervisors.map((each) => each.stop()));
  await rm(folder, { recursive: true, force: true });
});

interface Harness {
  readonly supervisor: Supervisor;
  readonly states: Tunnel[];
  /** Beside each state: whether a tool's output was still there. */
  readonly withTool: boolean[];
  readonly offered: (string | null)[];
  readonly remembered: () => RememberedChild | null;
  readonly doorsOpen: () => number;
  probe: (url: string) => ProbeResult;
  start(script: string, inherited?: RememberedChild | null, url?: string): Promise<void>;
  until(state: Tunnel["state"]): Promise<Tunnel>;
}

function harness(): Harness {
  const states: Tunnel[] = [];
  const withTool: boolean[] = [];
  const offered: (string | null)[] = [];
  let remembered: RememberedChild | null = null;
  let doors = 0;
  const supervisor = createSupervisor({
    folder,
    environment: { PATH: process.env.PATH, SALLYPORT_TOKEN: "must not be seen" },
    probe: async (_provider, url) => self.probe(url),
    onChange(tunnel) {
      states.push(tunnel);
      withTool.push(readdirSync(folder).some((name) => name.endsWith(".log")));
    },
    remember: async (child) => {
      remembered = child;
    },
    now: Date.now,
    monotonicNow: () => performance.now(),
    log: silentLog,
    timing: fast,
  });
  supervisors.push(supervisor);
  const self: Harness = {
    supervisor,
    states,
    withTool,
    offered,
    remembered: () => remembered,
    doorsOpen: () => doors,
    probe: () => ({ ok: true }),
    async start(script, inherited = null, url) {
      const path = join(folder, `tool-${states.length}.sh`);
      await writeFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      supervisor.start({
        provider: "command",
        plan: command.plan({
          rawFields: url === undefined ? {} : { url },
          settings: { command: [path, "{port}"], url_pattern: "https://[a-z0-9-]+\\.example" },
          insecureHttp: false,
        }),
        program: path,
        inherited,
        openDoor: async () => {
          doors += 1;
          return {
            port: 24_567,
            setAddress: () => undefined,
            offer: (url) => offered.push(url),
            close: async () => {
              doors -= 1;
            },
          };
        },
      });
    },
    until: (state) =>
      vi.waitFor(
        () => {
          expect(supervisor.current.state).toBe(state);
          return supervisor.current;
        },
        { timeout: 15_000, interval: 10 },
      ),
  };
  return self;
}

/** Processes whose command line names the temporary folder: nothing may be left of a tunnel. */
async function survivors(): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)("ps", ["-eo", "pid=,pgid=,stat=,args="]);
  return stdout.split("\n").filter((line) => line.includes(folder) && !/^\s*\d+\s+\d+\s+Z/.test(line));
}

const forever = "while :; do sleep 1; done";

describe("a tunnel's supervisor", () => {
  it("is up when the tool named an address and the probe came through it, and off when it is stopped", async () => {
    const own = harness();
    await own.start(`echo "at https://one.example on $1"; ${forever}`);
    expect(await own.until("up")).toMatchObject({ provider: "command", url: "https://one.example" });
    expect(own.offered).toContain("https://one.example");
    expect(own.remembered()).toMatchObject({ url: "https://one.example" });
    await own.supervisor.stop();
    expect(own.supervisor.current.state).toBe("off");
    expect([await survivors(), own.doorsOpen(), own.remembered()]).toEqual([[], 0, null]);
    expect((await readdir(folder)).filter((name) => !name.endsWith(".sh"))).toEqual([]);
  });

  it("is not up while the address leads elsewhere, and says why", async () => {
    const own = harness();
    own.probe = () => ({ ok: false, reason: "somebody else answers" });
    await own.start(`echo "at https://one.example"; ${forever}`);
    await vi.waitFor(() => expect(own.supervisor.current.text).toBe("somebody else answers"), {
      timeout: 15_000,
    });
    expect(own.supervisor.current).toMatchObject({ state: "starting", url: null });
    expect(await own.until("failed")).toMatchObject({
      reason: expect.stringContaining("somebody else answers"),
    });
    expect(own.offered.filter((url) => url !== null)).toEqual([]);
  });

  it("while it is starting, says what the tool complains of, and forgets it when that is over", async () => {
    const own = harness();
    await own.start(
      `echo "error: no route yet"; while [ ! -e "${folder}/turn" ]; do sleep 0.05; done; echo "https://one.example"; ${forever}`,
    );
    await vi.waitFor(() => expect(own.supervisor.current.text).toBe("command says: error: no route yet"), {
      timeout: 15_000,
    });
    await writeFile(join(folder, "turn"), "");
    expect(await own.until("up")).toMatchObject({ text: null });
  });

  it("waits for a person although the address is known before, and longer than for a network", async () => {
    const own = harness();
    let isIn = false;
    own.probe = () => (isIn ? { ok: true } : { ok: false, reason: "nobody answers" });
    await own.start(
      `echo "To log in, visit: https://login.one.test/abc"; ${forever}`,
      null,
      "https://one.example",
    );
    expect(await own.until("waiting")).toMatchObject({ link: "https://login.one.test/abc" });
    // Longer than an address is given otherwise.
    await new Promise((resolve) => setTimeout(resolve, fast.proofMs + 200));
    expect(own.supervisor.current.state).toBe("waiting");
    isIn = true;
    expect(await own.until("up")).toMatchObject({ url: "https://one.example", link: null });
  });

  it("takes no invitation to its own address for something to wait for", async () => {
    const own = harness();
    own.probe = () => ({ ok: false, reason: "nobody answers" });
    await own.start(`echo "Visit https://one.example/welcome"; ${forever}`, null, "https://one.example");
    await own.until("failed");
    expect(own.states.map(({ state }) => state)).not.toContain("waiting");
  });

  it("two addresses: the one that leads here counts", async () => {
    const own = harness();
    own.probe = (url) => (url === "https://two.example" ? { ok: true } : { ok: false, reason: "no" });
    await own.start(`echo "https://one.example"; echo "https://two.example"; ${forever}`);
    expect(await own.until("up")).toMatchObject({ url: "https://two.example" });
  });

  it("follows a tool that takes another name while it is up", async () => {
    const own = harness();
    let right = "https://one.example";
    own.probe = (url) => (url === right ? { ok: true } : { ok: false, reason: "gone" });
    await own.start(
      `echo "https://one.example"; while [ ! -e "${folder}/turn" ]; do sleep 0.05; done; echo "https://two.example"; ${forever}`,
    );
    await own.until("up");
    right = "https://two.example";
    await writeFile(join(folder, "turn"), "");
    await vi.waitFor(() => expect(own.supervisor.current.url).toBe("https://two.example"), {
      timeout: 10_000,
    });
    expect(own.offered.at(-1)).toBe("https://two.example");
  });

  it("dies at once: fails with the exit code and what it said, and tries again", async () => {
    const own = harness();
    await own.start("echo 'Error: no route to the service' >&2; exit 7");
    const failed = await own.until("failed");
    expect(failed.reason).toBe("command has ended (exit code 7): Error: no route to the service");
    expect(Date.parse(failed.next_try ?? "")).toBeGreaterThan(0);
    await vi.waitFor(
      () => expect(own.states.filter(({ state }) => state === "starting").length).toBeGreaterThan(1),
      {
        timeout: 10_000,
      },
    );
  });

  it("dies while it is up: is down at once and comes back", async () => {
    const own = harness();
    await own.start(
      `echo "https://one.example"; while [ ! -e "${folder}/die" ]; do sleep 0.05; done; exit 1`,
    );
    await own.until("up");
    await writeFile(join(folder, "die"), "");
    await own.until("failed");
    await rm(join(folder, "die"));
    expect(await own.until("up")).toMatchObject({ url: "https://one.example" });
  });

  it("dies while its address leads here all the same: says what it said", async () => {
    const own = harness();
    await own.start(
      `while [ ! -e "${folder}/die" ]; do sleep 0.05; done; echo "error: the port is taken"; exit 1`,
      null,
      "https://one.example",
    );
    await own.until("up");
    await writeFile(join(folder, "die"), "");
    expect((await own.until("failed")).reason).toContain("the port is taken");
  });

  it("says nothing: fails after a while", async () => {
    const own = harness();
    await own.start(forever);
    expect((await own.until("failed")).reason).toContain("named no address");
  });

  it("loses its way out while the tool lives on: is dialled again", async () => {
    const own = harness();
    await own.start(`echo "https://one.example"; ${forever}`);
    await own.until("up");
    own.probe = () => ({ ok: false, reason: "nobody answers" });
    expect((await own.until("failed")).reason).toContain("nobody answers");
    // Said while the tool is still being ended.
    expect(own.withTool[own.states.findIndex(({ state }) => state === "failed")]).toBe(true);
  });

  it("rude: one that ignores SIGTERM, with a helper that does too, is gone after stop", async () => {
    const own = harness();
    await own.start(`trap '' TERM HUP INT; ( ${forever} ) & echo "https://one.example"; ${forever}`);
    await own.until("up");
    await own.supervisor.stop();
    expect(await survivors()).toEqual([]);
  });

  it.each([
    ["is stopped", false],
    ["ended its watchdog and then is stopped", true],
  ])("rude: a helper in a session of its own is gone after the tool %s", async (_, killsWatchdog) => {
    const own = harness();
    // A session and process group of its own, deaf to SIGTERM, and forking on.
    const helper = `setsid sh -c 'trap "" TERM HUP; (while :; do sleep 1; done) & while :; do sleep 1; done # ${folder}' &`;
    await own.start(
      `${helper}\necho "https://one.example"; while [ ! -e "${folder}/turn" ]; do sleep 0.05; done; ${killsWatchdog ? "kill -9 $PPID;" : ""} ${forever}`,
    );
    await own.until("up");
    await writeFile(join(folder, "turn"), "");
    if (killsWatchdog) await own.until("failed");
    await own.supervisor.stop();
    expect(await survivors()).toEqual([]);
  });

  it("rude: a helper in a session of its own that wiped its environment is gone after the tool is stopped", async () => {
    const own = harness();
    const helper = `env -i /bin/sh -c 'exec setsid sh -c "trap : TERM HUP; while :; do sleep 1; done # ${folder}"' &`;
    await own.start(`${helper}\necho "https://one.example"; ${forever}`);
    await own.until("up");
    await vi.waitFor(async () => expect((await survivors()).join()).toContain("trap : TERM"), {
      timeout: 15_000,
    });
    await own.supervisor.stop();
    expect(await survivors()).toEqual([]);
  });

  it("rude: a tool that puts itself into a session of its own and exits leaves nothing", async () => {
    const own = harness();
    await own.start(
      `setsid sh -c 'trap "" TERM HUP; while :; do sleep 1; done # ${folder}' </dev/null >/dev/null 2>&1 & echo "https://one.example"`,
    );
    expect((await own.until("failed")).reason).toContain("exit code 0");
    expect(await survivors()).toEqual([]);
  });

  it("a helper that outlives its tool is ended with it", async () => {
    const own = harness();
    await own.start(`( trap '' TERM; exec sh -c 'while :; do sleep 1; done # ${folder}' ) & exit 1`);
    await own.until("failed");
    expect(await survivors()).toEqual([]);
  });

  it.each([
    ["before", `head -c 50000000 /dev/zero | tr '\\0' 'x'; echo; echo "https://one.example"; ${forever}`],
    ["after", `echo "https://one.example"; yes chatter`],
  ])(
    "flood: finds the address with megabytes of output %s it, and keeps its file small",
    async (_, script) => {
      const own = harness();
      await own.start(script);
      expect(await own.until("up")).toMatchObject({ url: "https://one.example" });
      await own.supervisor.stop();
      expect(await survivors()).toEqual([]);
    },
  );

  it("a fast stop and start leaves one tool, the last one", async () => {
    const own = harness();
    for (let round = 0; round < 5; round++) {
      await own.start(`echo "https://round-${round}.example"; ${forever}`);
      if (round % 2 === 0) void own.supervisor.stop();
    }
    await own.start(`echo "https://last.example"; ${forever}`);
    expect(await own.until("up")).toMatchObject({ url: "https://last.example" });
    const groups = (await survivors()).map((line) => line.trim().split(/\s+/)[1]);
    expect(new Set(groups).size).toBe(1);
    expect(own.doorsOpen()).toBe(1);
  });

  it("gives the tool none of our own variables", async () => {
    const own = harness();
    await own.start(`env | grep -q SALLYPORT_ && exit 3; echo "https://one.example"; ${forever}`);
    await own.until("up");
  });

  it("hands a tool over to the one that follows, which keeps its address", async () => {
    const first = harness();
    await first.start(`echo "https://$$.example"; ${forever}`);
    const { url } = await first.until("up");
    await first.supervisor.handOver();
    const inherited = first.remembered();
    const second = harness();
    await second.start("exit 9", inherited);
    expect(await second.until("up")).toMatchObject({ url });
    await second.supervisor.stop();
    expect(await survivors()).toEqual([]);
  });

  it("ends a tool that was left behind before it starts its own", async () => {
    const first = harness();
    await first.start(`echo "https://one.example"; ${forever}`);
    await first.until("up");
    const inherited = first.remembered();
    const second = harness();
    await second.start(`echo "https://two.example"; ${forever}`, inherited && { ...inherited, url: null });
    expect(await second.until("up")).toMatchObject({ url: "https://two.example" });
    expect(await readProcessIdentity(inherited?.identity.pid ?? 0)).toBeNull();
  });
});
