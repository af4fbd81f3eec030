import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isRemoteName, type KnownRemote, parseRemotes } from "../../src/cli/remotes/remote-file.ts";
import { changeRemotes, findRemote, readRemotes } from "../../src/cli/remotes/remote-store.ts";
import { type HomePaths, homePaths } from "../../src/config/home-paths.ts";

const box: KnownRemote = {
  name: "box",
  base: "https://box.example/sally",
  token: "spd_abc.def-ghi_j",
  device: "01a1c0de-0000-7000-8000-000000000000",
  added: "2026-01-01T00:00:00.000Z",
};
let home: string;
let paths: HomePaths;

beforeEach(async () => {
  home = join(await mkdtemp(join(tmpdir(), "sallyport-remotes-")), "home");
  paths = homePaths(home);
});
afterEach(() => rm(join(home, ".."), { recursive: true, force: true }));

function fileWith(entry: object): string {
  return JSON.stringify({ version: 1, remotes: [entry] });
}

describe("parseRemotes", () => {
  it("reads what was written", () => {
    expect(parseRemotes(fileWith(box))).toEqual({ ok: true, remotes: [box] });
  });

  it.each<[string, string]>([
    ["no JSON", "{"],
    ["no object", "[]"],
    ["no list", '{"version":1}'],
    ["a newer version", '{"version":9,"remotes":[]}'],
    ["a name that could be an option", fileWith({ ...box, name: "-x" })],
    ["no token", fileWith({ ...box, token: "" })],
    ["a token that would write headers of its own", fileWith({ ...box, token: "x\r\nHost: evil" })],
    ["an address that is none", fileWith({ ...box, base: "box.example" })],
    ["an address with a password", fileWith({ ...box, base: "https://a:b@box.example" })],
    ["an address that is not in its normal form", fileWith({ ...box, base: "https://box.example/" })],
    ["a name twice", JSON.stringify({ version: 1, remotes: [box, box] })],
    ["no remote", JSON.stringify({ version: 1, remotes: [null] })],
  ])("refuses %s whole", (_name, text) => {
    expect(parseRemotes(text)).toMatchObject({ ok: false });
  });

  it.each([
    ["box", true],
    ["Box-2.local_x", true],
    ["", false],
    ["-C", false],
    [".box", false],
    ["a b", false],
    ["x".repeat(65), false],
    ["bo\u202ex", false],
  ])("takes %j as a name: %s", (name, isName) => {
    expect(isRemoteName(name)).toBe(isName);
  });
});

describe("the remotes of a home", () => {
  it("are none without a file, and reading makes none", async () => {
    expect(await readRemotes(paths)).toEqual([]);
    await expect(stat(home)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("are kept in a file of this user alone, and leave no lock behind", async () => {
    await changeRemotes(paths, () => [box]);
    expect(await readRemotes(paths)).toEqual([box]);
    expect((await stat(paths.remotes)).mode & 0o777).toBe(0o600);
    expect(await readdir(home)).toEqual(["remotes.json"]);
  });

  it("lose nothing when many commands change them at once", async () => {
    const names = Array.from({ length: 12 }, (_, index) => `box${index}`);
    await Promise.all(names.map((name) => changeRemotes(paths, (all) => [...all, { ...box, name }])));
    expect((await readRemotes(paths)).map(({ name }) => name).sort()).toEqual(names.sort());
  });

  it("are changed although a command that was killed left its lock behind", async () => {
    await changeRemotes(paths, () => []);
    const lock = `${paths.remotes}.lock`;
    await writeFile(lock, "");
    await utimes(lock, 1, 1);
    await changeRemotes(paths, () => [box]);
    expect(await readRemotes(paths)).toEqual([box]);
  });

  it("in a damaged file are never taken for none, and the file is left as it is", async () => {
    await changeRemotes(paths, () => [box]);
    await writeFile(paths.remotes, "{ damaged");
    await expect(readRemotes(paths)).rejects.toThrow(/remotes\.json cannot be used.*It was left as it is/);
    await expect(changeRemotes(paths, () => [])).rejects.toThrow(/cannot be used/);
    expect(await readFile(paths.remotes, "utf8")).toBe("{ damaged");
  });

  it("in a file that others can read, or a link, are refused with what to do", async () => {
    await changeRemotes(paths, () => [box]);
    await chmod(paths.remotes, 0o644);
    await expect(readRemotes(paths)).rejects.toThrow(/can be read by others.*chmod 600/);
    await rm(paths.remotes);
    await symlink("/etc/hostname", paths.remotes);
    await expect(readRemotes(paths)).rejects.toThrow(/not to be trusted \(it is a symbolic link\)/);
  });

  it("are found by name, or wrong usage names those there are", async () => {
    await expect(findRemote(paths, "nope")).rejects.toMatchObject({ exitCode: 2 });
    await changeRemotes(paths, () => [box]);
    expect(await findRemote(paths, "box")).toEqual(box);
    await expect(findRemote(paths, "nope")).rejects.toThrow(/there are: box/);
  });
});
