import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { parseDaemonFile } from "../../src/cli/daemon-file.ts";
import { findDaemon } from "../../src/cli/find-daemon.ts";
import { homePaths } from "../../src/config/home-paths.ts";
import { daemonFileOf, type FakeDaemonOptions, fakeToken, homeWith, startFakeDaemon } from "./fake-daemon.ts";
import { cli } from "./fake-io.ts";

const undo: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0)) await step();
});

async function setUp(options: FakeDaemonOptions = {}, file: Record<string, unknown> = {}) {
  const daemon = await startFakeDaemon(options);
  const { home, remove } = await homeWith({ ...daemonFileOf(daemon.url), ...file });
  undo.push(daemon.close, remove);
  return { daemon, home };
}

/** No secret ever went out, in a header or anywhere else. */
function sentNoToken(
  requests: readonly { authorization: string | null; path: string; body: unknown }[],
): boolean {
  return (
    requests.every(({ authorization }) => authorization === null) &&
    !JSON.stringify(requests).includes(fakeToken)
  );
}

describe("findDaemon", () => {
  it("finds a daemon that proves to know the master token", async () => {
    const { home, daemon } = await setUp();
    const found = await findDaemon(homePaths(home), {});
    expect(found.state).toBe("running");
    expect(sentNoToken(daemon.requests)).toBe(true);
  });

  it("asks each time with another challenge", async () => {
    const { home, daemon } = await setUp();
    await findDaemon(homePaths(home), {});
    await findDaemon(homePaths(home), {});
    expect(new Set(daemon.requests.map(({ path }) => path)).size).toBe(2);
  });

  it("takes the token of daemon.token when it was rotated since daemon.json was written", async () => {
    const rotated = fakeToken.replaceAll("A", "B");
    const { home } = await setUp({ provesToken: rotated });
    await writeFile(join(home, "daemon.token"), `${rotated}\n`, { mode: 0o600 });
    const found = await findDaemon(homePaths(home), {});
    expect(found.state === "running" && found.link.masterToken).toBe(rotated);
  });

  it.each<[string, FakeDaemonOptions]>([
    ["gives no proof", { provesToken: null }],
    ["proves another token", { provesToken: "spm_other" }],
    ["is no Sallyport", { hello: { app: "nginx" } }],
    ["answers 404", { hello: null }],
  ])("a stranger on the port that %s is sent no token", async (_name, options) => {
    const { home, daemon } = await setUp(options);
    const ran = await cli(["devices"], { home });
    expect(ran.exitCode).toBe(3);
    expect(ran.stderr).toContain("was sent no token");
    expect(ran.stderr).toContain("sallyport daemon start --port N");
    expect(daemon.requests).toHaveLength(1);
    expect(sentNoToken(daemon.requests)).toBe(true);
  });

  it("a stranger that hands on the proof of a daemon on another port is sent no token", async () => {
    const real = await startFakeDaemon();
    undo.push(real.close);
    const relay = await startFakeDaemon({ provesToken: null, hello: { app: "sallyport", proof: "x" } });
    const { home, remove } = await homeWith(daemonFileOf(relay.url));
    undo.push(relay.close, remove);
    expect((await findDaemon(homePaths(home), {})).state).toBe("stranger");
    expect(sentNoToken(relay.requests)).toBe(true);
  });

  it("a pid that has ended makes the file stale, and nobody is asked", async () => {
    const { home, daemon } = await setUp({}, { pid: 2 ** 30 });
    const ran = await cli(["jobs", "--json"], { home });
    expect(ran.exitCode).toBe(3);
    expect(JSON.parse(ran.stdout)).toMatchObject({ type: "error", code: "not_found" });
    expect(ran.stderr).toContain("left over");
    expect(daemon.requests).toHaveLength(0);
  });

  it("a pid that belongs to somebody else, with nobody on the port, is no daemon", async () => {
    const { home, daemon } = await setUp();
    await daemon.close();
    undo.splice(0, 1);
    expect((await findDaemon(homePaths(home), {})).state).toBe("silent");
  });

  it.each([
    ["not JSON", "{"],
    ["empty", ""],
    ["no object", "[]"],
    ["an address of another machine", JSON.stringify(daemonFileOf("http://198.51.100.7:7700"))],
    [
      "a name that only begins like loopback",
      JSON.stringify(daemonFileOf("http://127.0.0.1.evil.example:7700")),
    ],
    ["a pid that is none", JSON.stringify(daemonFileOf("http://127.0.0.1:7700", -1))],
  ])("a damaged daemon.json (%s) is no daemon, with the next step", async (_name, content) => {
    const { home, remove } = await homeWith(content);
    undo.push(remove);
    const ran = await cli(["daemon", "status"], { home });
    expect(ran.exitCode).toBe(3);
    expect(ran.stderr).toContain("damaged");
    expect(ran.stderr).toContain("sallyport daemon start");
  });

  it("a daemon.json that others can read is not believed, and nobody is asked", async () => {
    const daemon = await startFakeDaemon();
    const { home, remove } = await homeWith(daemonFileOf(daemon.url), 0o644);
    undo.push(daemon.close, remove);
    const ran = await cli(["pair"], { home });
    expect(ran.exitCode).toBe(3);
    expect(ran.stderr).toContain("mode 644");
    expect(daemon.requests).toHaveLength(0);
  });

  it("a daemon.json that is a link is not believed", async () => {
    const elsewhere = await setUp();
    const { home, remove } = await homeWith(null);
    undo.push(remove);
    await symlink(join(elsewhere.home, "daemon.json"), join(home, "daemon.json"));
    expect((await findDaemon(homePaths(home), {})).state).toBe("unsafe");
    expect(elsewhere.daemon.requests).toHaveLength(0);
  });
});

describe("parseDaemonFile", () => {
  it("reads address, port, token and pid", () => {
    expect(parseDaemonFile(JSON.stringify(daemonFileOf("http://127.0.0.1:7700/", 5)))).toMatchObject({
      url: "http://127.0.0.1:7700",
      port: 7700,
      pid: 5,
      masterToken: fakeToken,
    });
  });
});
