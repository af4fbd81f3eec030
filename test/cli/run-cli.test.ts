import { afterEach, describe, expect, it } from "vitest";
import type { CommandSpec } from "../../src/cli/command.ts";
import { commands } from "../../src/cli/commands.ts";
import { homeWith } from "./fake-daemon.ts";
import { cli } from "./fake-io.ts";

const undo: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0)) await step();
});
async function emptyHome(): Promise<string> {
  const { home, remove } = await homeWith(null);
  undo.push(remove);
  return home;
}

/** Every command and subcommand as words: `["devices", "revoke"]`. */
function pathsOf(
  specs: readonly CommandSpec[],
  before: readonly string[] = [],
): readonly (readonly string[])[] {
  return specs.flatMap((spec) => {
    const path = [...before, spec.usage.split(" ")[0] ?? ""];
    return [path, ...pathsOf(spec.children ?? [], path)];
  });
}
const paths = pathsOf(commands);

describe("the command line", () => {
  it.each(paths.map((path) => [path.join(" "), path] as const))(
    "%s has --help with an example and --home",
    async (name, path) => {
      const ran = await cli([...path, "--help"], { home: await emptyHome() });
      expect(ran.exitCode).toBe(0);
      expect(ran.stderr).toBe("");
      expect(ran.stdout).toContain("--home <dir>");
      expect(ran.stdout).toMatch(/Examples?:\n {2}(source <\()?sallyport /);
      expect(ran.stdout).toContain(name);
    },
  );

  it("says nothing about a reader that has seen enough", async () => {
    const ran = await cli(["config", "show"], { home: await emptyHome(), isReaderGone: true });
    expect(ran).toEqual({ exitCode: 1, stdout: "", stderr: "" });
  });

  it.each([
    [["help"], ["--help"]],
    [
      ["help", "jobs"],
      ["jobs", "--help"],
    ],
    [
      ["help", "jobs", "kill"],
      ["jobs", "kill", "--help"],
    ],
    [
      ["help", "run", "--", "x"],
      ["run", "--help"],
    ],
  ])("takes %j for %j", async (asked, meant) => {
    const home = await emptyHome();
    const ran = await cli(asked, { home });
    expect(ran).toEqual(await cli(meant, { home }));
    expect(ran.exitCode).toBe(0);
  });

  it("refuses help on what is no command, and names those that are", async () => {
    const ran = await cli(["help", "jbos"], { home: await emptyHome() });
    expect([ran.exitCode, ran.stderr.includes("Did you mean jobs?")]).toEqual([2, true]);
  });

  it("prints its version", async () => {
    expect(await cli(["--version"], { home: await emptyHome() })).toMatchObject({
      exitCode: 0,
      stdout: "1.0.0\n",
    });
  });

  it.each([
    [["bogus"], "up, daemon, pair, devices, remote, "],
    [["devices", "bogus"], "list, revoke, rename, scope, reset"],
    [["daemon", "bogus"], "start, stop, restart, status, run"],
    [["remote", "bogus"], "on, tunnel, off, status"],
    [["jobs", "bogus"], "list, output, kill"],
    [["bogus", "--json"], "There is no command"],
    [["--bogus"], "There is no option"],
    [["devices", "--bogus"], "There is no option"],
    [["pair", "--bogus"], "See: sallyport pair --help"],
    [["devices", "revoke"], "See: sallyport devices revoke --help"],
    [["jobs", "output", "a", "b"], "See: sallyport jobs output --help"],
    [["daemon", "statsu"], "Did you mean status? See: sallyport daemon --help"],
    [["up", "--port", "70000"], "0 to 65535"],
    [["up", "--port", "http"], "0 to 65535"],
    [["daemon", "start", "--host", ""], "--host is empty"],
    [["up", "--tunnel", "wormhole"], "cloudflared, tailscale, ngrok, ssh, command"],
    [["daemon", "start", "--tunnel", ""], "cloudflared, tailscale, ngrok, ssh, command"],
    [["tunnel", "start", "wormhole"], "cloudflared, tailscale, ngrok, ssh, command"],
    [["pair", "--scope", "root"], "view, drive, approve, admin"],
    [["pair", "--expires-days", "0"], "1 to 3650"],
    [["jobs", "output", "x", "--tail", "-1"], "--tail 100"],
    [[], "Name a command"],
    [["daemon"], "Name a command"],
  ])("%j is wrong usage, with what would be right", async (argv, says) => {
    const ran = await cli(argv, { home: await emptyHome() });
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain(says);
  });

  it.each([
    [["devices", "--json"], 3],
    [["devices", "list", "--json"], 3],
    [["pair", "--json"], 3],
    [["daemon", "status", "--json"], 3],
    [["daemon", "stop", "--json"], 3],
    [["remote", "status", "--json"], 3],
    [["jobs", "output", "x", "--json"], 3],
    [["prompt", "x", "--json"], 3],
    [["run", "--json", "--", "x"], 125],
    [["pair", "--scope", "root", "--json"], 2],
    [["bogus", "--json"], 2],
  ])("%j prints one JSON value for its error and nothing else", async (argv, exitCode) => {
    const ran = await cli(argv, { home: await emptyHome() });
    expect(ran.exitCode).toBe(exitCode);
    expect(JSON.parse(ran.stdout)).toMatchObject({ type: "error" });
    expect(ran.stderr).not.toBe("");
  });

  it("takes --json behind the -- of run for a word of the command", async () => {
    const ran = await cli(["run", "--", "x", "--json"], { home: await emptyHome() });
    expect(ran).toMatchObject({ exitCode: 125, stdout: "" });
  });

  it("shows no control characters of a wrong word", async () => {
    const ran = await cli(["bo\u001b[2Jgus\u202e"], { home: await emptyHome() });
    expect(ran.stderr).toContain('"bogus"');
  });

  it("takes --home before or behind the command, and an empty one for a mistake", async () => {
    const home = await emptyHome();
    expect((await cli(["jobs", "--home", home], { home: "/nowhere" })).exitCode).toBe(3);
    expect((await cli(["jobs", "--home="], { home: "" })).exitCode).toBe(2);
  });
});
