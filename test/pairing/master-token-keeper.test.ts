import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createTokenDigester } from "../../src/auth/token-digest.ts";
import { createMasterToken, type MasterToken } from "../../src/pairing/master-token-keeper.ts";
import { fakeClock, refusalOf, temporaryHome, until } from "./fakes.ts";

const digester = createTokenDigester();
const never = 3_600_000;

async function setUp(
  options: { fixedToken?: string; pollMs?: number; home?: Awaited<ReturnType<typeof temporaryHome>> } = {},
) {
  const home = options.home ?? (await temporaryHome());
  const path = home.daemonToken;
  const onRotated = vi.fn();
  const onProblem = vi.fn();
  const master = await createMasterToken({
    path,
    fixedToken: options.fixedToken ?? null,
    clock: fakeClock(),
    digester,
    onRotated,
    onProblem,
    pollMs: options.pollMs ?? never,
  });
  onTestFinished(() => master.close());
  return { home, path, master, onRotated, onProblem };
}

const present = async (master: MasterToken, token: string): Promise<boolean> =>
  (await master.check(digester.digest(token))) !== null;
const fileText = (path: string): Promise<string> => readFile(path, "utf8").catch(() => "");
const put = (path: string, text: string): Promise<void> => writeFile(path, text, { mode: 0o600 });

describe("the master token", () => {
  it("is made once, for this user only, and kept over restarts", async () => {
    const { home, path, master } = await setUp();
    expect(master.token).toMatch(/^spm_[A-Za-z0-9_-]{43}$/);
    expect(await fileText(path)).toBe(`${master.token}\n`);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(home.home)).toEqual(["daemon.token"]);
    expect((await setUp({ home })).master.token).toBe(master.token);
  });

  it("holds all scopes, and other tokens are refused", async () => {
    const { master } = await setUp();
    expect(await master.check(digester.digest(master.token))).toBe(master.lease);
    expect([...master.lease.scopes]).toEqual(["view", "drive", "approve", "admin"]);
    for (const wrong of ["", "x", `${master.token}x`, master.token.slice(1), master.token.toUpperCase()])
      expect(await present(master, wrong)).toBe(false);
  });

  it("deleting the file ends the old token at its very next use and writes a new file", async () => {
    const { path, master, onRotated } = await setUp();
    const old = { token: master.token, lease: master.lease };
    const ends: string[] = [];
    old.lease.onEnd((end) => ends.push(end));
    await rm(path);
    expect(await present(master, old.token)).toBe(false);
    expect(ends).toEqual(["rotated"]);
    expect(old.lease.ended).toBe("rotated");
    expect(master.token).not.toBe(old.token);
    expect(onRotated).toHaveBeenCalledWith(master.token);
    await until(async () => (await fileText(path)) === `${master.token}\n`);
    expect(await present(master, master.token)).toBe(true);
    expect(await present(master, old.token)).toBe(false);
    expect(onRotated).toHaveBeenCalledTimes(1);
  });

  it("deleting the file rotates even if nobody uses the token", async () => {
    const { path, master } = await setUp({ pollMs: 10 });
    const old = master.token;
    await rm(path);
    await until(async () => (await fileText(path)) === `${master.token}\n` && master.token !== old);
  });

  it("deleting it again and again rotates each time", async () => {
    const { path, master, onRotated } = await setUp({ pollMs: 5 });
    const seen = new Set([master.token]);
    for (let count = 1; count <= 5; count += 1) {
      await until(async () => (await fileText(path)) === `${master.token}\n`);
      await rm(path);
      await until(() => onRotated.mock.calls.length === count);
      seen.add(master.token);
    }
    expect(seen.size).toBe(6);
  });

  it("another token put into the file counts from then on, the old one no more", async () => {
    const { path, master } = await setUp();
    const [old, other] = [master.token, `spm_${"B".repeat(43)}`];
    await put(`${path}.new`, `${other}\n`);
    await rename(`${path}.new`, path);
    expect(await present(master, old)).toBe(false);
    expect(await present(master, other)).toBe(true);
  });

  it("the same token written again changes nothing", async () => {
    const { path, master, onRotated } = await setUp();
    await put(`${path}.new`, `${master.token}\n`);
    await rename(`${path}.new`, path);
    expect(await present(master, master.token)).toBe(true);
    expect(onRotated).not.toHaveBeenCalled();
  });

  it("damaged while it runs: the file is reported once and left alone, the token still counts", async () => {
    const { path, master, onRotated, onProblem } = await setUp();
    await put(path, "damaged");
    for (let count = 0; count < 3; count += 1) expect(await present(master, master.token)).toBe(true);
    expect(onProblem).toHaveBeenCalledTimes(1);
    expect(onRotated).not.toHaveBeenCalled();
    expect(await fileText(path)).toBe("damaged");
  });

  it.each(["", "\n", "spm_short", "\0".repeat(48)])(
    "damaged: a file with %j stops the start and stays",
    async (text) => {
      const home = await temporaryHome();
      await put(home.daemonToken, text);
      const refusal = await refusalOf(setUp({ home }));
      expect(refusal.message).toContain(home.daemonToken);
      expect(refusal.message).toContain("sallyport devices reset");
      expect(await fileText(home.daemonToken)).toBe(text);
    },
  );

  it("a folder in its place stops the start", async () => {
    const home = await temporaryHome();
    await mkdir(home.daemonToken);
    expect((await refusalOf(setUp({ home }))).message).toContain(home.daemonToken);
  });

  it("disk gone: it rotates in memory once, reports once, and writes when the disk is back", async () => {
    const { home, path, master, onRotated, onProblem } = await setUp({ pollMs: 5 });
    await rename(home.home, `${home.home}.away`);
    await until(() => onProblem.mock.calls.length > 0);
    const rotated = master.token;
    expect(onRotated).toHaveBeenCalledTimes(1);
    expect(await present(master, rotated)).toBe(true);
    await mkdir(home.home);
    await until(async () => (await fileText(path)) === `${rotated}\n`);
    expect(onRotated).toHaveBeenCalledTimes(1);
    await rm(`${home.home}.away`, { recursive: true });
  });

  it("fixed: no file is made, none is looked at, and nothing rotates", async () => {
    const fixedToken = "f".repeat(40);
    const { path, master, onRotated } = await setUp({ fixedToken });
    expect(await present(master, fixedToken)).toBe(true);
    expect(await fileText(path)).toBe("");
    expect(onRotated).not.toHaveBeenCalled();
  });
});
