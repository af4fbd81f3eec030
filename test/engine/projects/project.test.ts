import { spawnSync } from "node:child_process";
import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { engineLimits } from "../../../src/engine/engine-limits.ts";
import { parseCommandFile } from "../../../src/engine/projects/command-file.ts";
import { findInstructionFiles } from "../../../src/engine/projects/instruction-files.ts";
import type { ProjectBounds } from "../../../src/engine/projects/project-bounds.ts";
import { findCommand, listCommands } from "../../../src/engine/projects/project-commands.ts";
import { readProject } from "../../../src/engine/projects/read-project.ts";
import { findTrustFindings } from "../../../src/engine/projects/trust-findings.ts";

let base = "";
let repo = "";
let bounds: ProjectBounds = { homeFolder: "", userHome: "", browseRoot: "" };
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-project-")));
  repo = join(base, "user", "repo");
  for (const folder of [".git", "api/src", "web", ".hidden", "node_modules/x"])
    mkdirSync(join(repo, folder), { recursive: true });
  mkdirSync(join(base, "user", ".sallyport", "jobs"), { recursive: true });
  put(".git/HEAD", "ref: refs/heads/feature/x\n");
  bounds = {
    homeFolder: join(base, "user", ".sallyport"),
    userHome: join(base, "user"),
    browseRoot: join(base, "user"),
  };
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function put(path: string, text: string): string {
  const full = join(repo, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, text);
  return full;
}
const read = (path: string, trusted = true) => readProject(join(repo, path), trusted, bounds);

describe("readProject", () => {
  it("tells where a part of a repository sits, and offers the root", async () => {
    expect(await read("api")).toEqual({
      root: repo,
      subdir: "api",
      siblings: ["web"],
      suggest_root: true,
      branch: "feature/x",
      commands: [],
    });
    expect(await read("api/src")).toMatchObject({ subdir: "api/src", siblings: [], suggest_root: true });
  });

  it("tells the root itself, and a folder without a repository", async () => {
    expect(await read("")).toMatchObject({ root: repo, subdir: "", siblings: [], suggest_root: false });
    rmSync(join(repo, ".git"), { recursive: true });
    expect(await read("api")).toMatchObject({
      root: null,
      subdir: null,
      siblings: [],
      suggest_root: false,
      branch: null,
    });
  });

  it("reads worktrees and submodules by their .git file, and the commit of a detached head", async () => {
    put(".git/worktrees/wt/HEAD", "0123456789abcdef0123456789abcdef01234567\n");
    const worktree = join(base, "user", "wt");
    mkdirSync(join(worktree, "api"), { recursive: true });
    writeFileSync(join(worktree, ".git"), `gitdir: ${repo}/.git/worktrees/wt\n`);
    expect(await readProject(join(worktree, "api"), true, bounds)).toMatchObject({
      root: worktree,
      subdir: "api",
      branch: "01234567",
    });
  });

  it("is not led astray by a .git that is empty, a link, a FIFO or huge", async () => {
    rmSync(join(repo, ".git"), { recursive: true });
    mkdirSync(join(repo, ".git"));
    expect((await read("api")).root).toBeNull();
    rmSync(join(repo, ".git"), { recursive: true });
    symlinkSync(join(base, "user", ".sallyport"), join(repo, ".git"));
    expect((await read("api")).root).toBeNull();
    rmSync(join(repo, ".git"));
    expect(spawnSync("mkfifo", [join(repo, ".git")]).status).toBe(0);
    expect((await read("api")).root).toBeNull();
    rmSync(join(repo, ".git"));
    put(".git", "x".repeat(1_000_000));
    expect((await read("api")).root).toBeNull();
    put(".git", "gitdir: /proc/self/environ\n");
    expect(await read("api")).toMatchObject({ root: repo, branch: null });
  });

  it("never runs git: a repository that would run a program on any look does not", async () => {
    const marker = join(base, "ran");
    put(".git/config", `[core]\n\tfsmonitor = "touch ${marker}"\n\tpager = "touch ${marker}"\n`);
    put(".git/hooks/post-index-change", `#!/bin/sh\ntouch ${marker}\n`);
    await read("api");
    await findTrustFindings(repo, bounds);
    expect(() => realpathSync(marker)).toThrow();
  });

  it("does not look above the folder that may be browsed, for a tab below it", async () => {
    const inside = { ...bounds, browseRoot: join(repo, "api") };
    expect(await readProject(join(repo, "api", "src"), true, inside)).toMatchObject({
      root: null,
      siblings: [],
    });
    expect(await readProject(join(repo, "web"), true, inside)).toMatchObject({ root: repo });
  });

  it("does not offer the user's home, should that be a repository", async () => {
    rmSync(join(repo, ".git"), { recursive: true });
    mkdirSync(join(base, "user", ".git"));
    writeFileSync(join(base, "user", ".git", "HEAD"), "ref: refs/heads/main\n");
    expect(await read("")).toMatchObject({ root: join(base, "user"), subdir: "repo", suggest_root: false });
  });

  it("bounds: lists at most fifty siblings, and never Sallyport's own folder", async () => {
    for (let n = 0; n < 80; n += 1) mkdirSync(join(repo, `s${n}`));
    expect((await read("api")).siblings).toHaveLength(engineLimits.projectSiblings);
  });

  it("shows no commands of a folder that nobody has trusted", async () => {
    put(".claude/commands/deploy.md", "rm -rf /");
    expect((await read("", false)).commands).toEqual([]);
    expect((await read("", true)).commands).toHaveLength(1);
  });
});

describe("listCommands and findCommand", () => {
  it("takes front matter and first lines, ours before Claude's, the folder's before the root's", async () => {
    put(
      ".sallyport/commands/deploy.md",
      '---\ndescription: "Ship it"\nargument-hint: <where>\nmodel: x\n---\nship $1\n',
    );
    put(".claude/commands/deploy.md", "another");
    put(".claude/commands/front/button.md", "# Make a button\n\nplease");
    put("api/.claude/commands/deploy.md", "of the api");
    const root = await listCommands([repo], bounds);
    expect(root).toEqual([
      {
        name: "deploy",
        description: "Ship it",
        argument_hint: "<where>",
        source: ".sallyport/commands/deploy.md",
      },
      {
        name: "front:button",
        description: "Make a button",
        argument_hint: null,
        source: ".claude/commands/front/button.md",
      },
    ]);
    expect((await findCommand([join(repo, "api"), repo], "deploy", bounds))?.body).toBe("of the api");
    expect((await findCommand([repo], "deploy", bounds))?.body).toBe("ship $1");
    expect(await findCommand([repo], "none", bounds)).toBeNull();
    expect((await read("api")).commands.map(({ name, source }) => [name, source])).toEqual([
      ["deploy", ".claude/commands/deploy.md"],
      ["front:button", ".claude/commands/front/button.md"],
    ]);
  });

  it("theft: passes over links of either kind, links above them, special and huge files", async () => {
    const token = join(base, "user", ".sallyport", "daemon.token");
    writeFileSync(token, "spm_secret");
    const outside = join(base, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "x.md"), "stolen");
    mkdirSync(join(repo, ".claude", "commands"), { recursive: true });
    symlinkSync(token, join(repo, ".claude", "commands", "a.md"));
    linkSync(token, join(repo, ".claude", "commands", "b.md"));
    symlinkSync(join(outside, "x.md"), join(repo, ".claude", "commands", "c.md"));
    symlinkSync(outside, join(repo, ".claude", "commands", "sub"));
    symlinkSync(outside, join(repo, ".sallyport"));
    mkdirSync(join(outside, "commands"));
    writeFileSync(join(outside, "commands", "d.md"), "stolen");
    expect(spawnSync("mkfifo", [join(repo, ".claude", "commands", "e.md")]).status).toBe(0);
    put(".claude/commands/f.md", "x".repeat(engineLimits.projectCommandFileBytes + 1));
    mkdirSync(join(repo, ".claude", "commands", "g.md"));
    put(".claude/commands/bad name.md", "x");
    put(".claude/commands/.md", "x");
    expect(await listCommands([repo], bounds)).toEqual([]);
    for (const name of ["a", "b", "c", "d", "e", "f", "g", "sub:x", "../x", "bad name"])
      expect(await findCommand([repo], name, bounds), name).toBeNull();
  });

  it("of a tab at the user's home are not those of Sallyport's own folder", async () => {
    const folder = join(base, "user", ".sallyport", "commands");
    mkdirSync(folder);
    writeFileSync(join(folder, "x.md"), "x");
    expect(await listCommands([join(base, "user")], bounds)).toEqual([]);
  });

  it("bounds: lists at most a hundred", async () => {
    for (let n = 0; n < engineLimits.projectCommands + 20; n += 1) put(`.claude/commands/c${n}.md`, "x");
    expect(await listCommands([repo], bounds)).toHaveLength(engineLimits.projectCommands);
  });
});

describe("parseCommandFile", () => {
  it.each([
    ["text", { description: "text", argumentHint: null, body: "text" }],
    ["", { description: null, argumentHint: null, body: "" }],
    ["---\ndescription: a\n", { description: "---", argumentHint: null, body: "---\ndescription: a" }],
    [
      "x\n---\ndescription: a\n---\n",
      { description: "x", argumentHint: null, body: "x\n---\ndescription: a\n---" },
    ],
    [
      "\ufeff---\r\ndescription: 'it''s'\r\n---\r\na\r\nb",
      { description: "it''s", argumentHint: null, body: "a\nb" },
    ],
    ["---\nargument-hint: [file]\n---\n", { description: null, argumentHint: "[file]", body: "" }],
  ])("%j", (text, expected) => {
    expect(parseCommandFile(text)).toEqual(expected);
  });

  it("shows nothing that deceives", () => {
    expect(parseCommandFile("---\ndescription: a\u202eb\u0007\n---\nx").description).toBe("ab");
  });
});

describe("findInstructionFiles", () => {
  it("finds them from the root down, links inside the project too, with their sizes", async () => {
    put("AGENTS.md", "12345");
    symlinkSync("AGENTS.md", join(repo, "CLAUDE.md"));
    put("api/CLAUDE.md", "1");
    symlinkSync("/etc/passwd", join(repo, "api", "GEMINI.md"));
    expect(await findInstructionFiles(join(repo, "api"), repo, bounds)).toEqual([
      { path: "AGENTS.md", bytes: 5, skipped: null },
      { path: "CLAUDE.md", bytes: 5, skipped: null },
      { path: "api/CLAUDE.md", bytes: 1, skipped: null },
      { path: "api/GEMINI.md", bytes: expect.any(Number), skipped: expect.stringContaining("not opened") },
    ]);
  });
});

describe("findTrustFindings", () => {
  it("lists hooks of agents and git, MCP servers and commands, with what is hidden made visible", async () => {
    put(
      ".claude/settings.local.json",
      JSON.stringify({ hooks: { Stop: [{ hooks: [{ command: "a\u202eb" }] }] } }),
    );
    put(".cursor/hooks.json", JSON.stringify({ hooks: { afterEdit: [{ command: "fmt" }, 7, null] } }));
    put(".vscode/mcp.json", JSON.stringify({ servers: { x: { url: "https://mcp.example" }, y: 7 } }));
    put(".git/hooks/pre-commit", "#!/bin/sh\n");
    put(".git/hooks/pre-push.sample", "#!/bin/sh\n");
    put(".envrc", "export X=1");
    put(".sallyport/commands/go.md", "go");
    expect(await findTrustFindings(repo, bounds)).toEqual({
      hooks: [
        { source: ".claude/settings.local.json", name: "Stop", command: "a⟨U+202E⟩b" },
        { source: ".cursor/hooks.json", name: "afterEdit", command: "fmt" },
        { source: ".git/hooks", name: "pre-commit", command: "" },
        { source: ".envrc", name: ".envrc", command: "" },
      ],
      mcp_servers: [
        { source: ".vscode/mcp.json", name: "x", command: "https://mcp.example" },
        { source: ".vscode/mcp.json", name: "y", command: "" },
      ],
      commands: [{ name: "go", description: "go", argument_hint: null, source: ".sallyport/commands/go.md" }],
      incomplete: false,
    });
  });

  it.each([
    ["not JSON", "{"],
    ["a list", "[]"],
    ["as deep as a file can be", "[".repeat(200_000)],
    ["huge", `{"hooks":"${"x".repeat(300_000)}"}`],
  ])("says that it is not complete when a settings file is %s", async (_title, text) => {
    put(".mcp.json", text);
    expect(await findTrustFindings(repo, bounds)).toMatchObject({
      hooks: [],
      mcp_servers: [],
      incomplete: true,
    });
  });

  it("bounds: lists at most a hundred of a kind and follows no link", async () => {
    const servers = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`s${n}`, { command: "x" }]));
    put(".mcp.json", JSON.stringify({ mcpServers: servers }));
    symlinkSync("/etc", join(repo, ".husky"));
    const found = await findTrustFindings(repo, bounds);
    expect(found.mcp_servers).toHaveLength(engineLimits.trustFindings);
    expect(found).toMatchObject({ hooks: [], incomplete: true });
  });
});
