import { execFile } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import type { Config } from "../config/config.ts";
import type { HomePaths } from "../config/home-paths.ts";
import type { Provider, RawFields, ToolAnswer } from "../tunnel/provider.ts";
import { providers } from "../tunnel/registry.ts";
import { toolPath } from "./tunnel-program.ts";

type Env = Readonly<Record<string, string | undefined>>;

const askMs = 10_000;
const maxAnswerBytes = 64 * 1024;
const maxFileBytes = 64 * 1024;
const maxVersionLength = 80;

/** How it stands with the program of one provider. `next`: what to do where something stands in the way. */
export interface ToolReport {
  readonly ok: boolean;
  readonly text: string;
  readonly next: string | null;
}

/** Looks for the programs that tunnels are made with: there, which version, logged in. Starts no tunnel. */
export async function examineTools(
  paths: HomePaths,
  env: Env,
  config: Config | null,
): Promise<readonly ToolReport[]> {
  const reports = await Promise.all(providers.map((provider) => examine(provider, paths, env, config)));
  return reports.filter((report) => report !== null);
}

const ok = (text: string): ToolReport => ({ ok: true, text, next: null });
const stuck = (text: string, next: string): ToolReport => ({ ok: false, text, next });

async function examine(
  provider: Provider,
  paths: HomePaths,
  env: Env,
  config: Config | null,
): Promise<ToolReport | null> {
  const { name } = provider;
  const settings = config?.tunnel.providers[name] ?? {};
  const configured = programOf(name, settings);
  if (name === "command" && configured === null) return null;
  const path = toolPath(configured ?? name, { home: paths.home, environment: env });
  if (path === null)
    return configured === null
      ? ok(`${name} is not installed; needed only for a tunnel by it`)
      : stuck(
          `${configured} is no program that can be run`,
          `Correct tunnel.${name}.${name === "command" ? "command" : "binary"} in ${paths.config}. ${provider.howToGet}`,
        );
  const ask = (args: readonly string[]): Promise<ToolAnswer | null> => answerOf(path, args, env);
  const version = provider.versionArgs === null ? null : await ask(provider.versionArgs);
  if (provider.versionArgs !== null && (version === null || version.code !== 0 || version.output === ""))
    return stuck(`${path} does not tell its version`, `Install it again. ${provider.howToGet}`);
  const said = version?.output.split("\n")[0]?.slice(0, maxVersionLength);
  const text = said === undefined ? path : `${path}: ${said}`;
  const login = await provider.checkLogin({ ask, readText: readShortFile, environment: env, settings });
  if (!login.ok) return stuck(`${text}, but ${login.text}`, login.next);
  return ok(login.text === null ? text : `${text}, ${login.text}`);
}

/** What the configuration says to run; null when it says nothing. */
function programOf(name: string, settings: RawFields): string | null {
  const { binary, command } = settings;
  if (name === "command") return Array.isArray(command) ? String(command[0]) : null;
  return typeof binary === "string" ? binary : null;
}

/** A tool that hangs, or floods, at such a question has no answer. Nobody is there to type one for it. */
function answerOf(path: string, args: readonly string[], env: Env): Promise<ToolAnswer | null> {
  return new Promise((resolve) => {
    const child = execFile(
      path,
      [...args],
      {
        env: Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("SALLYPORT_"))),
        timeout: askMs,
        killSignal: "SIGKILL",
        maxBuffer: maxAnswerBytes,
      },
      (error, stdout, stderr) => {
        const output = `${stdout}${stderr}`.trim();
        if (error === null) resolve({ code: 0, output });
        else resolve(typeof error.code === "number" ? { code: error.code, output } : null);
      },
    );
    child.stdin?.on("error", () => undefined);
    child.stdin?.end();
  });
}

async function readShortFile(path: string): Promise<string | null> {
  const found = await stat(path).catch(() => null);
  if (!found?.isFile() || found.size > maxFileBytes) return null;
  return readFile(path, "utf8").catch(() => null);
}
