import { chmod, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { writeFileAtomic } from "../../src/lib/atomic-file.ts";
import { newId } from "../../src/lib/ids.ts";
import {
  formatPushFile,
  isP256Point,
  newVapidKeys,
  parsePushFile,
  type StoredSubscription,
} from "../../src/push/push-file.ts";
import { maxPerDevice, openPushStore } from "../../src/push/push-store.ts";

let folder: string;
let path: string;
const problems: unknown[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sallyport-push-"));
  path = join(folder, "push.json");
  problems.length = 0;
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const device = newId();
let count = 0;
function subscription(more: Partial<StoredSubscription> = {}): StoredSubscription {
  count += 1;
  return {
    id: newId(),
    device,
    endpoint: `https://push.example.com/${count}`,
    p256dh: newVapidKeys().public_key,
    auth_secret: "zqbxT6JKstKSY9JKibZLSQ",
    kinds: ["requests"],
    created: "2026-11-30T12:00:00.000Z",
    ...more,
  };
}
const open = (writeFile?: (path: string, text: string) => Promise<void>) =>
  openPushStore({
    path,
    onProblem: (problem) => problems.push(problem),
    ...(writeFile ? { writeFile } : {}),
  });
const diskFull = () => Object.assign(new Error("disk full"), { code: "ENOSPC" });

describe("push.json", () => {
  it("is made when it is first needed, private, with a key pair that stays", async () => {
    const store = await open();
    await expect(stat(path)).rejects.toThrow("ENOENT");
    const [keys, same] = await Promise.all([store.keys(), store.keys()]);
    expect(same).toEqual(keys);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await store.put(subscription());
    await store.close();
    const again = await open();
    expect(await again.keys()).toEqual(keys);
    expect(again.list()).toHaveLength(1);
  });

  it("is not replaced when somebody else has just made it", async () => {
    const store = await open();
    await writeFile(path, "theirs", { mode: 0o600 });
    await expect(store.keys()).rejects.toMatchObject({ code: "internal" });
    expect(await readFile(path, "utf8")).toBe("theirs");
  });

  it("is a problem, and left as it is, when it cannot be trusted", async () => {
    const good = formatPushFile({ vapid: newVapidKeys(), subscriptions: [subscription()] });
    const other = formatPushFile({ vapid: newVapidKeys(), subscriptions: [] });
    const twice = subscription();
    const mixed = { ...JSON.parse(good) };
    mixed.vapid = { ...mixed.vapid, public_key: JSON.parse(other).vapid.public_key };
    for (const [text, says] of [
      ["", "not JSON"],
      [good.slice(0, -20), "not JSON"],
      ["[]", "not a JSON object"],
      [good.replace('"version": 1', '"version": 9'), "newer version"],
      [good.replace('"requests"', '"everything"'), "damaged"],
      [good.replace('"endpoint"', '"address"'), "damaged"],
      [JSON.stringify(mixed), "belong together"],
      [formatPushFile({ vapid: newVapidKeys(), subscriptions: [twice, twice] }), "twice"],
    ] as const) {
      await writeFile(path, text, { mode: 0o600 });
      const store = await open();
      expect(store.problem).toContain(says);
      expect(store.list()).toEqual([]);
      expect(await readFile(path, "utf8")).toBe(text);
    }
    await writeFile(path, good);
    await chmod(path, 0o640);
    expect((await open()).problem).toContain(`chmod 600 ${path}`);
    await rm(path);
    await symlink("/dev/zero", path);
    expect((await open()).problem).toContain("symbolic link");
  });

  it("takes a subscription back that the disk refused, and one that ends is out all the same", async () => {
    let refuses = false;
    const store = await open((target, text) =>
      refuses ? Promise.reject(diskFull()) : writeFileAtomic(target, text),
    );
    await store.keys();
    const kept = subscription();
    await store.put(kept);
    refuses = true;
    await expect(store.put(subscription())).rejects.toMatchObject({ code: "disk_full" });
    await expect(store.put({ ...kept, kinds: ["turns"] })).rejects.toMatchObject({ code: "disk_full" });
    expect(store.list()).toEqual([kept]);
    await expect(store.remove([kept.id])).rejects.toMatchObject({ code: "disk_full" });
    expect(store.list()).toEqual([]);
    refuses = false;
    await store.close();
    expect((await open()).list()).toEqual([]);
  });

  it("holds four subscriptions of a device: the oldest makes room, and nobody else's", async () => {
    const store = await open();
    await store.keys();
    const foreign = subscription({ device: newId() });
    await store.put(foreign);
    const own = Array.from({ length: maxPerDevice + 1 }, () => subscription());
    const gone = [];
    for (const each of own) gone.push(...(await store.put(each)));
    expect(gone).toEqual([own[0]]);
    expect(store.list()).toEqual([foreign, ...own.slice(1)]);
    await store.close();
  });
});

describe("the keys of a browser", () => {
  it("must be a point of the curve, in the one spelling that browsers have", () => {
    const key = newVapidKeys().public_key;
    expect(isP256Point(key)).toBe(true);
    const bytes = Buffer.from(key, "base64url");
    const off = Buffer.from(bytes);
    off[64] = (off[64] ?? 0) ^ 1;
    for (const wrong of [
      "",
      `${key}=`,
      key.slice(0, -1),
      off.toString("base64url"),
      Buffer.alloc(65).toString("base64url"),
      Buffer.concat([Buffer.from([2]), bytes.subarray(1)]).toString("base64url"),
      bytes.subarray(0, 33).toString("base64url"),
      "!".repeat(87),
    ])
      expect(isP256Point(wrong)).toBe(false);
  });

  it("are written and read back", () => {
    const file = { vapid: newVapidKeys(), subscriptions: [subscription()] };
    expect(parsePushFile(formatPushFile(file))).toEqual({ ok: true, file });
  });
});
