import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findProgram } from "../../../src/daemon/awake/find-program.ts";
import { inhibitorCommands } from "../../../src/daemon/awake/inhibitor-command.ts";

const choose = (platform: NodeJS.Platform, ...installed: string[]) =>
  inhibitorCommands(platform, (name) => (installed.includes(name) ? `/bin/${name}` : null));

describe("inhibitorCommands", () => {
  it.each([
    ["linux", "systemd-inhibit"],
    ["linux", "elogind-inhibit"],
  ] as const)("on %s takes %s: the lock on sleep, else that on idleness", (platform, tool) => {
    const choice = choose(platform, tool);
    const commands = "commands" in choice ? choice.commands : [];
    expect(commands.map(({ program, args }) => [program, args[0]])).toEqual([
      [`/bin/${tool}`, "--what=sleep:idle"],
      [`/bin/${tool}`, "--what=idle"],
    ]);
  });

  it("on darwin takes caffeinate", () => {
    const choice = choose("darwin", "caffeinate");
    expect(choice).toMatchObject({ commands: [{ program: "/bin/caffeinate" }] });
  });

  it.each(["linux", "darwin", "win32"] as const)("on %s without a tool says what is missing", (platform) => {
    expect(choose(platform)).toEqual({ missing: expect.stringMatching(/\.$/) });
  });
});

describe("findProgram", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "sallyport-path-"));
    await mkdir(join(folder, "a", "tool"), { recursive: true });
    await mkdir(join(folder, "b"));
    await mkdir(join(folder, "c"));
    await writeFile(join(folder, "b", "tool"), "", { mode: 0o644 });
    await writeFile(join(folder, "c", "tool"), "");
    await chmod(join(folder, "c", "tool"), 0o755);
  });
  afterAll(() => rm(folder, { recursive: true }));

  it("takes the first file that can be run, and looks in no relative folder", () => {
    const searchPath = ["", ".", `${folder}/a`, `${folder}/b`, `${folder}/c`].join(":");
    expect(findProgram("tool", searchPath)).toBe(join(folder, "c", "tool"));
    expect(findProgram("other", searchPath)).toBeNull();
    expect(findProgram("tool", undefined)).toBeNull();
  });
});
