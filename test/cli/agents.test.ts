import { chmod, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { daemonFileOf, type FakeCommand, homeWith, refusal, startFakeDaemon } from "./fake-daemon.ts";
import { cli, startCli } from "./fake-io.ts";

const undo: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0)) await step();
});

const runtime = {
  title: "Shell",
  kind: "shell",
  source: "built_in",
  state: "ready",
  message: "Runs each prompt as a command line.",
  next: null,
  version: null,
  takes_model: false,
  needs_trust: false,
};
const models = {
  models: [],
  default_model: null,
  default_runtime: "qwen",
  add_agent: null,
  runtimes: [
    { ...runtime, name: "shell" },
    { ...runtime, name: "replay", title: "Replay", kind: "replay", state: "missing", next: "Name one." },
    { ...runtime, name: "qwen", title: "Qwen\u001b[2J", kind: "acp", message: "Works: /opt/qwen." },
    { ...runtime, name: "gone", kind: "acp", state: "missing", message: "No program.", next: "Install it." },
  ],
};

async function daemon(body: unknown = models) {
  const commands: FakeCommand[] = [];
  const running = await startFakeDaemon({
    answer: ({ path }) => (path === "/api/models" ? { body } : null),
    snapshot: {
      workspace: { id: "w1", name: "main", active_tab: "t1", tabs: [{ id: "t1", cwd: "/srv/api" }] },
    },
    command(command, send) {
      commands.push(command);
      const { client_ref, type, tab } = command;
      if (command.runtime === "magic")
        send({ ...refusal("invalid_field", "There is no such runtime.", { field: "runtime" }), client_ref });
      else if (type === "tab_runtime")
        send({ type: "ack", client_ref, workspace: "w1", tab, runtime: command.runtime, model: null });
      else if (type === "agent_start") send({ type: "ack", client_ref, tab: "t1", agent: "a7" });
      else send({ ...refusal("conflict", "Busy.", { reason: "busy" }), client_ref });
    },
  });
  const { home, remove } = await homeWith(daemonFileOf(running.url));
  undo.push(running.close, remove);
  return { home, commands };
}

describe("sallyport agents", () => {
  it("lists what can run agents, which one is taken, and what to do about those that cannot", async () => {
    const { home } = await daemon();
    const { exitCode, stdout } = await cli(["agents"], { home });
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/qwen +\* +ready +Qwen.*Works: \/opt\/qwen\./);
    expect(stdout).toContain("gone: Install it.");
    expect(stdout).not.toContain("replay");
    expect(stdout).not.toContain("\u001b");
    const asJson = await cli(["agents", "list", "--json"], { home });
    expect(JSON.parse(asJson.stdout)).toEqual(models);
  });

  it("says how to get an agent where there is none", async () => {
    const { home } = await daemon({ ...models, runtimes: [], add_agent: "Install one." });
    expect((await cli(["agents"], { home })).stdout).toContain("Install one.");
  });

  it("chooses what a tab runs, and passes on what the daemon refuses", async () => {
    const { home, commands } = await daemon();
    const chosen = await cli(["agents", "use", "qwen", "--tab", "/srv/api", "--model", "m", "--project"], {
      home,
    });
    expect(chosen).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("run qwen") });
    expect(commands[0]).toMatchObject({
      type: "tab_runtime",
      tab: "t1",
      runtime: "qwen",
      model: "m",
      project: true,
    });
    const refused = await cli(["agents", "use", "magic"], { home });
    expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("no such runtime") });
  });
});

describe("sallyport prompt --runtime", () => {
  it("starts an agent of that runtime and prompts it", async () => {
    const { home, commands } = await daemon();
    await cli(["prompt", "--tab", "/srv/api", "--runtime", "qwen", "--model", "m", "fix", "it"], { home });
    expect(commands).toMatchObject([
      { type: "agent_start", tab: "t1", runtime: "qwen", model: "m", label: "fix it" },
      { type: "prompt", agent: "a7", text: "fix it" },
    ]);
    expect(commands[1]).not.toHaveProperty("tab");
  });

  it("is for a new agent only", async () => {
    const { home, commands } = await daemon();
    const ran = await cli(["prompt", "--agent", "a1", "--runtime", "qwen", "x"], { home });
    expect(ran.exitCode).toBe(2);
    expect(commands).toEqual([]);
  });
});

describe("sallyport agents key", () => {
  const key = "sk-typed-0123456789";
  async function emptyHome() {
    const { home, remove } = await homeWith(null);
    undo.push(remove);
    return { home, file: join(home, "credentials.toml") };
  }

  it("asks for the key without showing it, and keeps it where only the user may read", async () => {
    const { home, file } = await emptyHome();
    const running = startCli(["agents", "key", "qwen"], { home, hasKeyboard: true, isTerminal: true });
    await running.shows("OPENAI_API_KEY");
    running.type(`${key}x\u007f\r`);
    const ran = await running.done;
    expect(ran.exitCode).toBe(0);
    expect(ran.stdout + ran.stderr).not.toContain(key);
    expect(await readFile(file, "utf8")).toBe(`[agents.qwen]\nOPENAI_API_KEY = "${key}"\n`);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it("takes it from stdin, changes nothing else in the file, and forgets it again", async () => {
    const { home, file } = await emptyHome();
    const before = '# mine\n[agents.claude]\nANTHROPIC_API_KEY = "other-key"\n';
    await writeFile(file, before, { mode: 0o600 });
    const kept = await cli(["agents", "key", "mine", "MY_KEY"], { home, input: `  ${key}\n` });
    expect(kept.exitCode).toBe(0);
    const text = await readFile(file, "utf8");
    expect(text).toContain(before);
    expect(text).toContain(`[agents.mine]\nMY_KEY = "${key}"`);
    await cli(["agents", "key", "mine", "MY_KEY", "--remove"], { home });
    expect(await readFile(file, "utf8")).not.toContain(key);
    expect(await readFile(file, "utf8")).toContain(before);
  });

  it.each([
    ["an agent whose variable is not known", ["magic"], key, "Name the variable"],
    ["an empty key", ["qwen"], " \n", "no key"],
    ["a name that is none", ["a b", "X"], key, "a name that is none"],
    ["a variable that is none", ["qwen", "A B"], key, "no name of a variable"],
    ["a variable of ours", ["qwen", "SALLYPORT_TOKEN"], key, "of ours"],
    ["two lines", ["qwen"], `${key}\n${key}`, "no key has"],
    ["what is no key", ["qwen"], "x".repeat(9_000), "too long"],
  ])("refuses %s, and keeps nothing", async (_case, words, input, says) => {
    const { home, file } = await emptyHome();
    const ran = await cli(["agents", "key", ...words], { home, input });
    expect(ran.exitCode).toBeGreaterThan(0);
    expect(ran.stderr).toContain(says);
    expect(ran.stdout + ran.stderr).not.toContain(key);
    await expect(stat(file)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("does not touch a file that others can read, a damaged one, or a link", async () => {
    const { home, file } = await emptyHome();
    await writeFile(file, "[agents.x]\nA = broken", { mode: 0o600 });
    expect((await cli(["agents", "key", "qwen"], { home, input: key })).stderr).toContain("line 2");
    await writeFile(file, "");
    await chmod(file, 0o644);
    expect((await cli(["agents", "key", "qwen"], { home, input: key })).stderr).toContain("chmod 600");
    expect(await readFile(file, "utf8")).toBe("");
    const other = await emptyHome();
    await symlink(file, other.file);
    const linked = await cli(["agents", "key", "qwen"], { home: other.home, input: key });
    expect(linked).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("symbolic link") });
  });
});
