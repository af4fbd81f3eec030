import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { parseExitFile, shimArguments } from "../../../src/engine/jobs/shim.ts";
import { cleanUp, temporaryFolder, until } from "./harness.ts";

afterEach(cleanUp);

/** Every shell of this machine that could be `/bin/sh`, under that name. */
function shells(): { name: string; path: string }[] {
  const folders = (process.env.PATH ?? "/usr/bin:/bin").split(delimiter);
  const found = ["dash", "bash", "busybox", "ksh", "mksh"].flatMap((name) => {
    const path = folders.map((folder) => join(folder, name)).find(existsSync);
    return path === undefined ? [] : [{ name, path }];
  });
  return [{ name: "the system's sh", path: "/bin/sh" }, ...found];
}

interface Ran {
  readonly code: number | null;
  readonly exitFile: string | null;
  readonly exitMode: number | null;
  readonly log: string;
}

async function run(
  shell: string,
  command: string,
  options: { signal?: NodeJS.Signals; env?: NodeJS.ProcessEnv } = {},
): Promise<Ran> {
  const folder = temporaryFolder();
  const sh = join(folder, "sh");
  symlinkSync(shell, sh);
  const log = openSync(join(folder, "log"), "ax", 0o600);
  const exitFile = join(folder, "exit");
  const child = spawn(sh, shimArguments(sh, command, exitFile), {
    cwd: folder,
    detached: true,
    stdio: ["ignore", log, log],
    env: options.env ?? process.env,
  });
  closeSync(log);
  const { pid } = child;
  if (pid === undefined) throw new Error("the shell did not start");
  const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
  if (options.signal) {
    await until(() => existsSync(join(folder, "ready")));
    // Again and again: bash and busybox ignore SIGQUIT themselves until they have become the command.
    const { signal } = options;
    const sender = setInterval(() => {
      try {
        process.kill(-pid, signal);
      } catch {
        clearInterval(sender); // It has just ended.
      }
    }, 100);
    child.on("exit", () => clearInterval(sender));
    process.kill(-pid, signal);
  }
  const code = await ended;
  const there = existsSync(exitFile);
  return {
    code,
    exitFile: there ? readFileSync(exitFile, "utf8") : null,
    exitMode: there ? statSync(exitFile).mode & 0o777 : null,
    log: readFileSync(join(folder, "log"), "utf8"),
  };
}

describe.each(shells())("the shim under $name", ({ path: shell }) => {
  it.each([
    ["exit 0", 0],
    ["exit 7", 7],
    ["no-such-program-here 2>/dev/null", 127],
    ["kill -9 $$", 137],
    ["kill -SEGV $$", 139],
    ["kill -TERM 0; sleep 5", 143],
  ])("writes the status of %j", async (command, status) => {
    const ran = await run(shell, command);
    expect(ran).toMatchObject({ code: status, exitFile: `${status}\n`, exitMode: 0o600 });
  });

  it.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
    ["SIGHUP", 129],
    ["SIGQUIT", 131],
    ["SIGUSR1", 138],
    ["SIGUSR2", 140],
    ["SIGALRM", 142],
    ["SIGPIPE", 141],
  ] as const)(
    "lets %s end the command and survives it itself, without a word in the log",
    async (signal, status) => {
      const ran = await run(shell, ": >ready; exec sleep 30", { signal });
      expect(ran).toMatchObject({ exitFile: `${status}\n`, log: "" });
    },
  );

  it("leaves a command that handles SIGTERM to end as it likes", async () => {
    const command = "trap 'trap \"\" TERM; echo bye; exit 3' TERM; sleep 5 & : >ready; wait";
    expect(await run(shell, command, { signal: "SIGTERM" })).toMatchObject({ exitFile: "3\n", log: "bye\n" });
  });

  it.runIf(process.platform === "linux")(
    "hands on no ignored or blocked signal and no descriptor",
    async () => {
      const ran = await run(shell, "exec cat /proc/self/status");
      expect(ran.log).toMatch(/^SigBlk:\t0+$/m);
      expect(ran.log).toMatch(/^SigIgn:\t0+$/m);
      const open = await run(
        shell,
        "for n in 3 4 5 6 7 8 9; do [ -e /proc/self/fd/$n ] && echo $n; done; exit 0",
      );
      // ksh and others keep a descriptor of their own below 10 while they run a loop; it is not ours.
      expect(open.log).toBe("");
    },
  );

  it("passes the command byte for byte, also one that looks like options", async () => {
    const text = ` '"\\$x \`y\` é😀\t\u0001%s \n`;
    const quoted = `'${text.replaceAll("'", `'\\''`)}'`;
    expect((await run(shell, `printf %s ${quoted}`)).log).toBe(text);
    expect((await run(shell, "-x 2>/dev/null; echo after")).log).toBe("after\n");
    expect((await run(shell, "+x 2>/dev/null; echo after")).log).toBe("after\n");
  });

  it("changes neither umask nor variables nor standard input of the command", async () => {
    const env = { ...process.env, code: "mine", stop: "mine" };
    const ran = await run(shell, 'umask; echo "$code $stop"; cat; echo "[$#]"', { env });
    expect(ran.log).toBe(`${process.umask().toString(8).padStart(4, "0")}\nmine mine\n[0]\n`);
  });
});

describe("parseExitFile", () => {
  it.each([
    ["0\n", 0],
    ["255\n", 255],
    ["143", null],
    ["", null],
    ["256\n", null],
    ["-1\n", null],
    ["0\n0\n", null],
    ["1e2\n", null],
  ])("reads %j as %j", (text, code) => {
    expect(parseExitFile(text)).toBe(code);
  });
});
