import { execFile } from "node:child_process";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, describe, expect, it, vi } from "vitest";
import { commands } from "../../src/cli/commands.ts";
import { completionScript, shells } from "../../src/cli/completion-script.ts";
import { daemonFileOf, homeWith, startFakeDaemon } from "./fake-daemon.ts";
import { cli } from "./fake-io.ts";

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0)) await step();
});

async function home(): Promise<string> {
  const made = await homeWith(null);
  undo.push(made.remove);
  return made.home;
}

describe("sallyport config", () => {
  it("prints where the settings are, also when there are none", async () => {
    const at = await home();
    expect((await cli(["config", "path"], { home: at })).stdout).toBe(`${join(at, "config.toml")}\n`);
    const json = await cli(["config", "path", "--json"], { home: at });
    expect(JSON.parse(json.stdout)).toEqual({ path: join(at, "config.toml") });
  });

  it("shows every value with where it comes from, without a daemon", async () => {
    const at = await home();
    await writeFile(join(at, "config.toml"), "port = 7801\n", { mode: 0o600 });
    const ran = await cli(["config", "show"], { home: at });
    expect(ran.exitCode).toBe(0);
    expect(ran.stdout).toMatch(/^port\s+7801\s+file$/m);
    expect(ran.stdout).toMatch(/^daemon\.idle_minutes\s+120\s+default$/m);
    const json = JSON.parse((await cli(["config", "show", "--json"], { home: at })).stdout);
    expect(json.settings).toContainEqual(
      expect.objectContaining({ key: "port", value: 7801, source: "file" }),
    );
  });

  it("leak: shows no secret of the file, in text or JSON", async () => {
    const at = await home();
    const config = `[agents.bot]\ncommand = "/bin/bot"\n[agents.bot.env]\nAPI_TOKEN = "hunter2secret"\n[tunnel.ngrok]\nauthtoken = "hunter2secret"\n`;
    await writeFile(join(at, "config.toml"), config, { mode: 0o600 });
    for (const words of [
      ["config", "show"],
      ["config", "show", "--json"],
    ]) {
      const ran = await cli(words, { home: at });
      expect(ran.exitCode).toBe(0);
      expect(ran.stdout + ran.stderr).not.toContain("hunter2secret");
      expect(ran.stdout).toContain("ngrok");
    }
  });

  it("says what is wrong with a file that does not count, and fails", async () => {
    const at = await home();
    await writeFile(join(at, "config.toml"), "prot = 1\n", { mode: 0o600 });
    expect(await cli(["config", "show"], { home: at })).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/config\.toml line 1: prot/),
    });
  });
});

describe("sallyport web", () => {
  async function local() {
    const tickets: unknown[] = [];
    const daemon = await startFakeDaemon({
      answer: ({ path, body }) => {
        if (path !== "/api/ws/ticket") return null;
        tickets.push(body);
        return { body: { ticket: "spt_secret-ticket", expires: "2026-01-01T00:00:30.000Z" } };
      },
    });
    const made = await homeWith(daemonFileOf(daemon.url));
    undo.push(daemon.close, made.remove);
    return { daemon, tickets, home: made.home };
  }

  it("prints the address without a secret and mints no ticket", async () => {
    const { daemon, tickets, home: at } = await local();
    expect((await cli(["web"], { home: at })).stdout).toBe(`${daemon.url}\n`);
    expect(JSON.parse((await cli(["web", "--json"], { home: at })).stdout)).toEqual({ url: daemon.url });
    expect(tickets).toEqual([]);
  });

  it("--open lets the browser in through a file of this user alone, never through an argv", async () => {
    const { daemon, tickets, home: at } = await local();
    const log = join(at, "opened");
    const opener = join(at, process.platform === "darwin" ? "open" : "xdg-open");
    await writeFile(opener, `#!/bin/sh\nprintf '%s' "$*" > '${log}.part' && mv '${log}.part' '${log}'\n`, {
      mode: 0o700,
    });
    // The real environment: what opens a browser is found by PATH.
    vi.stubEnv("PATH", `${at}:${process.env.PATH}`);
    try {
      const ran = await cli(["web", "--open"], { home: at });
      expect(ran).toMatchObject({ exitCode: 0, stdout: `${daemon.url}\n` });
      expect(tickets).toEqual([{ purpose: "page" }]);
      const page = (await readdir(at)).find((name) => /^open-.*\.html$/.test(name)) ?? "";
      expect((await stat(join(at, page))).mode & 0o777).toBe(0o600);
      expect(await readFile(join(at, page), "utf8")).toContain(`${daemon.url}/#ticket=spt_secret-ticket`);
      await vi.waitFor(async () => expect(await readFile(log, "utf8")).toBe(join(at, page)), {
        timeout: 60_000,
      });
      expect(ran.stdout + ran.stderr).not.toContain("spt_");
    } finally {
      vi.unstubAllEnvs();
    }
  });
});

describe("sallyport sessions", () => {
  const row = {
    id: "01a1c0de-0000-7000-8000-000000000000",
    title: "Fix\u001b[2J the tests",
    label: null,
    prompt: null,
    cwd: "/srv/api",
    runtime: "shell",
    model: null,
    parent: null,
    started: null,
    updated: "2026-01-01T00:00:00.000Z",
    bytes: 2048,
    state: "idle",
    live: false,
    workspace: null,
    tab: null,
    damaged: false,
  };

  async function withSessions() {
    const record = (seq: number): object => ({
      agent: "a",
      seq,
      at: "",
      type: "assistant_message",
      message: { id: `m${seq}`, text: `words ${seq}` },
    });
    const daemon = await startFakeDaemon({
      answer: ({ path }) => {
        if (path.startsWith("/api/sessions?")) return { body: { sessions: [row], next: null } };
        if (path.includes("before=7"))
          return { body: { records: [record(1)], before: null, seq: 9, streaming: null } };
        if (path.startsWith("/api/sessions/"))
          return {
            body: {
              records: [record(2), record(3)],
              before: 7,
              seq: 9,
              streaming: { message: "m4", text: "so far", thinking: "", tools: [] },
            },
          };
        return null;
      },
    });
    const made = await homeWith(daemonFileOf(daemon.url));
    undo.push(daemon.close, made.remove);
    return { daemon, at: (...words: string[]) => cli(["sessions", ...words], { home: made.home }) };
  }

  it("lists the newest, by folder and number, with titles that steer no terminal", async () => {
    const { daemon, at } = await withSessions();
    const ran = await at("list", "--cwd", "/srv/api", "--limit", "7");
    expect(ran.stdout).toContain("Fix the tests");
    expect(ran.stdout).not.toContain("\u001b");
    expect(daemon.requests.at(-1)?.path).toBe("/api/sessions?limit=7&cwd=%2Fsrv%2Fapi");
    expect(JSON.parse((await at("--json")).stdout)).toEqual({ sessions: [row], next: null });
  });

  it("shows a conversation from its beginning, page by page, and what its open turn has said", async () => {
    const { at } = await withSessions();
    expect((await at("show", row.id)).stdout).toBe("words 1\nwords 2\nwords 3\nso far\n");
    expect(await at("show", row.id, "--limit", "2")).toMatchObject({
      stdout: "words 2\nwords 3\nso far\n",
      stderr: expect.stringContaining("older records"),
    });
  });

  it.each([
    ["--limit", "0"],
    ["--limit", "501"],
    ["--limit", "x"],
    ["--cwd", ""],
  ])("refuses %s %j as wrong usage", async (...words) => {
    const { at } = await withSessions();
    expect((await at("list", ...words)).exitCode).toBe(2);
  });
});

describe("sallyport completion", () => {
  it.each(shells)("%s: names every command and option", async (shell) => {
    const script = completionScript(shell, commands);
    for (const word of ["jobs", "output", "kill", "attach", "connect", "completion"])
      expect(script).toContain(word);
    expect(script).toContain(shell === "fish" ? "-l expires-days" : "--expires-days");
    expect((await cli(["completion", shell], { home: await home() })).stdout).toBe(script);
  });

  it("refuses another shell as wrong usage", async () => {
    expect((await cli(["completion", "tcsh"], { home: await home() })).exitCode).toBe(2);
  });

  it("completes in a real bash", async () => {
    const script = completionScript("bash", commands);
    const ask = async (...words: string[]): Promise<string[]> => {
      const line = words.map((word) => `'${word}'`).join(" ");
      const program = `${script}\nCOMP_WORDS=(sallyport ${line}); COMP_CWORD=${words.length}; _sallyport; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const { stdout } = await promisify(execFile)("bash", ["--norc", "-c", program]);
      return stdout.split("\n").filter((word) => word !== "");
    };
    expect(await ask("at")).toEqual(["attach"]);
    expect(await ask("jobs", "k")).toEqual(["kill"]);
    expect(await ask("--home", "/x", "jobs", "output", "--f")).toEqual(["--follow"]);
    expect(await ask("run", "--", "j")).toEqual([]);
  });
});
