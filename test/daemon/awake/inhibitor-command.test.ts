import { describe, expect, it } from "vitest";
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
