import { spawnSync } from "node:child_process";
import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { attach } from "../../../src/engine/attachments/attach.ts";
import { createAttachmentDesk } from "../../../src/engine/attachments/attachment-desk.ts";
import type { Attached } from "../../../src/engine/attachments/prompt-part.ts";
import { engineLimits } from "../../../src/engine/engine-limits.ts";
import { limits } from "../../../src/protocol/limits.ts";

const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
let base = "";
let cwd = "";
let home = "";
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-attach-")));
  cwd = join(base, "user", "project");
  home = join(base, "user", ".sallyport");
  mkdirSync(join(cwd, "src"), { recursive: true });
  mkdirSync(join(home, "jobs"), { recursive: true });
  writeFileSync(join(home, "daemon.token"), "spm_secret");
  writeFileSync(join(cwd, "README.md"), "# hi\n");
  writeFileSync(join(base, "outside.txt"), "outside");
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const bounds = (browseRoot: string | null = null) => ({
  homeFolder: home,
  userHome: join(base, "user"),
  browseRoot,
});
async function one(path: string, browseRoot: string | null = null): Promise<Attached> {
  const [found] = await attach({ attachments: [{ path }] }, { cwd, bounds: bounds(browseRoot) });
  if (!found) throw new Error("nothing was attached");
  return found;
}
const textOf = ({ part }: Attached): string => (part.type === "text" ? part.text : "");

describe("attach", () => {
  it("puts a text file into a fenced block, relative to the agent's folder, to ~ or absolute", async () => {
    const attached = await one("README.md");
    expect(attached).toEqual({
      label: { name: "README.md", kind: "text" },
      part: {
        type: "text",
        text: "README.md:\n```\n# hi\n```",
        file: { path: join(cwd, "README.md"), name: "README.md", text: "# hi\n" },
      },
    });
    expect((await one("./src/../README.md")).label).toEqual({ name: "README.md", kind: "text" });
    expect((await one("~/project/README.md")).label.kind).toBe("text");
    expect((await one(join(cwd, "README.md"))).label.kind).toBe("text");
  });

  it("cuts text at 256 KB, between two characters, and says so", async () => {
    const text = `a${"é".repeat(engineLimits.attachedTextBytes / 2)}`;
    writeFileSync(join(cwd, "long.txt"), text);
    const shown = textOf(await one("long.txt"));
    expect(shown).toContain(
      `(cut: the first ${engineLimits.attachedTextBytes - 1} of ${text.length * 2 - 1} bytes)`,
    );
    expect(shown).not.toContain("\ufffd");
    expect(Buffer.byteLength(shown)).toBeLessThan(engineLimits.attachedTextBytes + 200);
    writeFileSync(join(cwd, "exact.txt"), "x".repeat(engineLimits.attachedTextBytes));
    expect(textOf(await one("exact.txt"))).not.toContain("cut:");
  });

  it("takes an image by its bytes up to 10 MB; a larger one is a note", async () => {
    writeFileSync(join(cwd, "shot"), png);
    expect(await one("shot")).toMatchObject({
      label: { name: "shot", kind: "image" },
      part: { type: "image", mime: "image/png", name: "shot" },
    });
    writeFileSync(join(cwd, "big.png"), Buffer.concat([png, Buffer.alloc(limits.imageBytes)]));
    const big = await one("big.png");
    expect(big.label).toEqual({ name: "big.png", kind: "file" });
    expect(textOf(big)).toContain("too large");
  });

  it("lists a folder, and makes a note of any other file", async () => {
    mkdirSync(join(cwd, "src", "deep"));
    writeFileSync(join(cwd, "src", "a\n\u202eb.ts"), "");
    const folder = await one("src");
    expect(folder.label).toEqual({ name: "src", kind: "folder" });
    expect(textOf(folder)).toBe("src (a folder):\n```\na⟨U+000A⟩⟨U+202E⟩b.ts\ndeep/\n```");
    writeFileSync(join(cwd, "a.out"), Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2]));
    expect(await one("a.out")).toEqual({
      label: { name: "a.out", kind: "file" },
      part: {
        type: "text",
        text: "(a.out is a file of 7 bytes that is not text.)",
        file: { path: join(cwd, "a.out"), name: "a.out", text: null },
      },
    });
    writeFileSync(join(cwd, "latin1.txt"), Buffer.from([0x63, 0x61, 0x66, 0xe9]));
    expect((await one("latin1.txt")).label.kind).toBe("file");
    writeFileSync(join(cwd, "empty"), "");
    expect(textOf(await one("empty"))).toBe("empty:\n```\n```");
  });

  it("lists at most a thousand entries of a folder", async () => {
    mkdirSync(join(cwd, "many"));
    for (let n = 0; n < engineLimits.attachedFolderEntries + 5; n += 1)
      writeFileSync(join(cwd, "many", `f${n}`), "");
    const shown = textOf(await one("many"));
    expect(shown).toContain("the first 1000 entries");
    expect(shown.split("\n")).toHaveLength(engineLimits.attachedFolderEntries + 3);
  });

  it.each<[string, () => string]>([
    ["the token by its path", () => join(home, "daemon.token")],
    ["the token by dots", () => "../.sallyport/daemon.token"],
    ["the token by ~", () => "~/.sallyport/daemon.token"],
    ["the home itself", () => "~/.sallyport"],
    ["a folder in the home", () => "../.sallyport/jobs"],
    ["a link to the token", () => link(join(home, "daemon.token"))],
    ["a link to the home", () => link(home)],
    ["a path through a link to the home", () => `${link(home)}/daemon.token`],
    ["a hard link to the token", () => hardLink(join(home, "daemon.token"))],
  ])("theft: refuses %s, also for the master", async (_title, path) => {
    for (const root of [null, join(base, "user")])
      await expect(one(path(), root)).rejects.toMatchObject({
        code: "path_refused",
        status: 403,
        field: "attachments.0.path",
      });
  });

  it.each<[string, () => string]>([
    ["what exists", () => join(base, "outside.txt")],
    ["what does not", () => join(base, "none.txt")],
    ["a folder", () => base],
    ["dots", () => "../../outside.txt"],
    ["dots to nothing", () => "../../none.txt"],
    ["a link", () => link(join(base, "outside.txt"))],
    ["a dangling link", () => link(join(base, "none.txt"))],
    ["/etc", () => "/etc/passwd"],
    ["~", () => "~"],
  ])("keeps a device without admin below the browse root, with one answer: %s", async (_title, path) => {
    const told = await one(path(), cwd).then(
      () => "attached",
      ({ code, message, field }) => ({ code, message, field }),
    );
    expect(told).toEqual({
      code: "path_refused",
      field: "attachments.0.path",
      message: expect.stringContaining("outside the folder that may be browsed"),
    });
  });

  it.each<[string, () => string, string]>([
    ["nothing", () => "none.txt", "not_found"],
    ["a NUL", () => "a\0b", "invalid_field"],
    ["a lone surrogate", () => "a\ud800", "invalid_field"],
    ["a path of 5,000 characters", () => "x".repeat(5_000), "invalid_field"],
    ["a FIFO", () => fifo(), "path_refused"],
    ["a device", () => "/dev/zero", "path_refused"],
    ["a file of the kernel", () => "/proc/self/environ", "path_refused"],
  ])("refuses %s with the field, and reads nothing", async (_title, path, code) => {
    await expect(one(path())).rejects.toMatchObject({ code, field: "attachments.0.path" });
  });

  it("refuses a socket, and names which attachment it was", async () => {
    const server = createServer().listen(join(cwd, "s"));
    await new Promise((resolve) => server.once("listening", resolve));
    await expect(
      attach({ attachments: [{ path: "README.md" }, { path: "s" }] }, { cwd, bounds: bounds() }),
    ).rejects.toMatchObject({ code: "path_refused", field: "attachments.1.path" });
    await new Promise((resolve) => server.close(resolve));
  });

  it("flood: all attachments of a prompt together are bounded", async () => {
    writeFileSync(join(cwd, "big.png"), Buffer.concat([png, Buffer.alloc(9 * 1024 * 1024)]));
    const attachments = Array.from({ length: 4 }, () => ({ path: "big.png" }));
    await expect(attach({ attachments }, { cwd, bounds: bounds() })).rejects.toMatchObject({
      code: "too_large",
      field: "attachments",
    });
  });
});

describe("createAttachmentDesk", () => {
  it("flood: holds no more than its bound until turns release theirs", async () => {
    const desk = createAttachmentDesk({ heldBytes: 100, lanes: 2 });
    const take = () => desk.take({ attachments: [{ path: "f" }] }, { cwd, bounds: bounds() });
    writeFileSync(join(cwd, "f"), "x".repeat(50));
    const first = await take();
    await expect(take()).rejects.toMatchObject({ code: "overloaded", status: 503 });
    first.release();
    first.release();
    const second = await take();
    await expect(take()).rejects.toMatchObject({ code: "overloaded" });
    second.release();
    expect((await desk.take({}, { cwd, bounds: bounds() })).attached).toEqual([]);
  });
});

function link(target: string): string {
  rmSync(join(cwd, "link"), { force: true });
  symlinkSync(target, join(cwd, "link"));
  return "link";
}
function hardLink(target: string): string {
  rmSync(join(cwd, "hard"), { force: true });
  linkSync(target, join(cwd, "hard"));
  return "hard";
}
function fifo(): string {
  rmSync(join(cwd, "pipe"), { force: true });
  expect(spawnSync("mkfifo", [join(cwd, "pipe")]).status).toBe(0);
  return "pipe";
}
