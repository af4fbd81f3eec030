import { appendFile, mkdtemp, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Tail, tailOutput } from "../../src/tunnel/tail-output.ts";

const secret = "2abcDEFghiJKLmno_345";

let folder: string;
let path: string;
let lines: string[];
let tail: Tail;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "sallyport-tail-")));
  path = join(folder, "out.log");
  await writeFile(path, "");
  lines = [];
});
afterEach(async () => {
  await tail.close();
  await rm(folder, { recursive: true, force: true });
});
const follow = (secrets: readonly string[] = []): void => {
  tail = tailOutput(path, { onLine: (line) => lines.push(line), secrets });
};
const heard = (line: string) => vi.waitFor(() => expect(lines).toContain(line), { timeout: 60_000 });

describe("tailOutput", () => {
  it("an address behind a pause in its line is heard", async () => {
    follow();
    await appendFile(path, "Connecting");
    await heard("Connecting");
    await appendFile(path, " https://one.example");
    await heard("Connecting https://one.example");
    await appendFile(path, "\n");
    await tail.close();
    expect(lines.at(-1)).toBe("Connecting https://one.example");
  });

  it("flood: an address in the middle of 40 MB is heard, and the file is cut", async () => {
    const flood = `${"chatter ".repeat(20)}\n`.repeat(130_000);
    follow();
    await appendFile(path, `${flood}at https://one.example\n${flood}`);
    await heard("at https://one.example");
    await vi.waitFor(async () => expect((await stat(path)).size).toBe(0), { timeout: 60_000 });
    await appendFile(path, "afterwards\n");
    await heard("afterwards");
    expect(lines.length).toBeLessThan(20_000);
  });

  it("flood: nothing is lost that is said while the file is cut", async () => {
    follow();
    const marks = Array.from({ length: 12 }, (_, at) => `https://mark-${at}.example`);
    for (const mark of marks) {
      await appendFile(path, `${"chatter ".repeat(20)}\n`.repeat(35_000));
      await appendFile(path, `${mark}\n`);
    }
    for (const mark of marks) await heard(mark);
  });

  it("flood: an address before more than is ever read is heard, and none is made of what stands at the two ends of the gap", async () => {
    await writeFile(path, `at https://one.example\n${"x".repeat(400_000)}`);
    for (let part = 0; part < 3; part++) await appendFile(path, `${"y".repeat(30_000_000)}\n`);
    follow();
    await heard("at https://one.example");
    await vi.waitFor(async () => expect((await stat(path)).size).toBe(0), { timeout: 60_000 });
    expect(lines.filter((line) => line.includes("x") && line.includes("y"))).toEqual([]);
  });

  it("a flood of addresses passes on a bounded number of lines at a time", async () => {
    await writeFile(path, "https://x.example\n".repeat(500_000));
    follow();
    await vi.waitFor(async () => expect((await stat(path)).size).toBe(0), { timeout: 60_000 });
    expect(lines.length).toBeLessThanOrEqual(3_000);
  });

  it("covers a secret in the file, also where two writes have a part of it", async () => {
    follow([secret]);
    await appendFile(path, `token=${secret} and ${secret.slice(0, 9)}`);
    await heard(`token=${secret} and ${secret.slice(0, 9)}`);
    await appendFile(path, `${secret.slice(9)} end\n`);
    await tail.close();
    const stars = "*".repeat(secret.length);
    expect(await readFile(path, "utf8")).toBe(`token=${stars} and ${stars} end\n`);
  });

  it("reads what is there when the tool has ended", async () => {
    follow();
    await appendFile(path, "last words");
    await tail.close();
    expect(lines).toContain("last words");
  });

  it("a file that is not there is no fault", async () => {
    await rm(path);
    follow();
    await tail.close();
    expect(lines).toEqual([]);
  });
});
