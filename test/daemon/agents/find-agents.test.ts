import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { knownAgents } from "../../../src/config/known-agents.ts";
import { agentPath, findAgents } from "../../../src/daemon/agents/find-agents.ts";

let root: string;
let bin: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "sallyport-find-agents-"));
  bin = join(root, "bin");
  await mkdir(bin);
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function program(path: string, mode = 0o755): Promise<string> {
  await writeFile(path, "#!/bin/sh\n");
  await chmod(path, mode);
  return path;
}
const find = (agents: Parameters<typeof findAgents>[0]["config"]["agents"] = {}, path = bin) =>
  findAgents({ config: { agents }, environment: { PATH: path }, userHome: join(root, "home") });
/** What the machine of the test has besides is not ours to say. */
const named = (name: string, found: ReturnType<typeof find>) => found.find((each) => each.name === name);

describe("findAgents", () => {
  it("finds known agents on the PATH, with what makes them speak the protocol", async () => {
    const path = await program(join(bin, "qwen"));
    expect(named("qwen", find())).toMatchObject({
      title: "Qwen Code",
      source: "path",
      command: path,
      path,
      args: ["--acp"],
    });
    await program(join(bin, "claude-code-acp"));
    expect(named("claude", find())?.path).toBe(join(bin, "claude-code-acp"));
    await program(join(bin, "claude-agent-acp"));
    expect(named("claude", find())?.path).toBe(join(bin, "claude-agent-acp"));
  });

  it("looks where programs are put that the PATH of a service does not name", async () => {
    await mkdir(join(root, "home", ".local", "bin"), { recursive: true });
    const path = await program(join(root, "home", ".local", "bin", "vibe-acp"));
    expect(named("vibe", find({}, "/nowhere"))?.path).toBe(path);
  });

  it("does not take a folder, a file that cannot be run, or a relative entry of the PATH", async () => {
    await mkdir(join(bin, "vibe-acp"));
    await program(join(bin, "kimi"), 0o644);
    await symlink("nowhere", join(bin, "auggie"));
    expect(["vibe", "kimi", "auggie"].map((name) => named(name, find()))).toEqual(Array(3).fill(undefined));
    await program(join(root, "junie"));
    expect(named("junie", find({}, `.:..:${root.slice(1)}`))).toBeUndefined();
  });

  it("puts the configuration first, in its order, and lets it win over what is installed", async () => {
    await program(join(bin, "qwen"));
    const mine = await program(join(root, "mine"));
    const found = find({
      zed: { command: mine, args: ["--serve"], env: { A: "b" } },
      qwen: { command: mine, args: null, env: {} },
      none: { command: "no-such-program", args: null, env: {} },
    });
    expect(found.slice(0, 3)).toMatchObject([
      {
        name: "zed",
        title: "zed",
        source: "config",
        path: mine,
        args: ["--serve"],
        env: { A: "b" },
        known: null,
      },
      // Called like a known agent, so it logs in like one; but it is another program, with arguments of its own.
      { name: "qwen", title: "Qwen Code", source: "config", path: mine, args: [] },
      { name: "none", source: "config", command: "no-such-program", path: null, known: null },
    ]);
    expect(found.filter(({ name }) => name === "qwen")).toHaveLength(1);
  });

  it("gives a known program its arguments when the configuration names none", async () => {
    await program(join(bin, "gemini"));
    const [work, plain] = find({
      work: { command: join(bin, "gemini"), args: null, env: {} },
      plain: { command: "gemini", args: [], env: {} },
    });
    expect(work).toMatchObject({ title: "Gemini CLI", args: ["--acp"], known: { name: "gemini" } });
    expect(plain).toMatchObject({ path: join(bin, "gemini"), args: [] });
  });

  it("knows each agent by one name, and no program twice", () => {
    const names = knownAgents.map(({ name }) => name);
    const programs = knownAgents.flatMap((each) => each.programs);
    expect(new Set(names).size).toBe(names.length);
    expect(new Set(programs).size).toBe(programs.length);
    expect(names.every((name) => /^[a-z0-9-]+$/.test(name))).toBe(true);
  });
});

describe("agentPath", () => {
  it("adds where the agent's program and this Node are, behind what was there", () => {
    const node = join(process.execPath, "..");
    expect(agentPath({ path: "/opt/agent/bin/x" }, { PATH: "/usr/bin:/opt/agent/bin" })).toBe(
      ["/usr/bin", "/opt/agent/bin", ...(node === "/usr/bin" ? [] : [node])].join(":"),
    );
    expect(agentPath({ path: "/opt/a/x" }, { PATH: node })).toBe(`${node}:/opt/a`);
    expect(agentPath({ path: null }, {}).split(":")).toContain("/usr/bin");
  });
});
