import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { Config } from "../../config/config.ts";
import { type KnownAgent, knownAgent, knownAgents } from "../../config/known-agents.ts";
import { findProgram } from "../../lib/find-program.ts";

/** An agent that can be chosen: one of the configuration, or a known one whose program is on this machine. */
export interface FoundAgent {
  /** Name of its runtime. */
  readonly name: string;
  readonly title: string;
  readonly source: "config" | "path";
  /** As it is written, or the path where it was found. */
  readonly command: string;
  /** Null: there is no such program, or it cannot be run. */
  readonly path: string | null;
  readonly args: readonly string[];
  /** Settings of the configuration; keys stand elsewhere, but people write them here too. */
  readonly env: Readonly<Record<string, string>>;
  readonly known: KnownAgent | null;
}

export interface FindAgentsOptions {
  readonly config: Pick<Config, "agents">;
  /** Of the daemon. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly userHome?: string;
}

/** Where such programs are put that the short PATH of a service does not name. */
function usualFolders(userHome: string): readonly string[] {
  const ofUser = [".local/bin", ".npm-global/bin", ".bun/bin", ".cargo/bin", ".opencode/bin"];
  return [
    // Beside this Node: `npm install -g` of a version manager.
    dirname(process.execPath),
    ...ofUser.map((folder) => join(userHome, folder)),
    "/usr/local/bin",
    "/opt/homebrew/bin",
    "/snap/bin",
  ];
}

/** Agents of the configuration in its order, then known ones that are installed. Nothing is started. */
export function findAgents(options: FindAgentsOptions): readonly FoundAgent[] {
  const userHome = options.userHome ?? homedir();
  const configured = Object.entries(options.config.agents).map(
    ([name, { command, args, env }]): FoundAgent => {
      const program = knownAgent({ command });
      const known = program ?? knownAgent({ name });
      return {
        name,
        title: known?.title ?? name,
        source: "config",
        command,
        path: programPath(command, options.environment, userHome),
        args: args ?? program?.args ?? [],
        env,
        known,
      };
    },
  );
  const names = new Set(configured.map(({ name }) => name));
  const installed = knownAgents
    .filter(({ name }) => !names.has(name))
    .flatMap((known): readonly FoundAgent[] => {
      for (const program of known.programs) {
        const path = programPath(program, options.environment, userHome);
        if (path === null) continue;
        const { name, title, args } = known;
        return [{ name, title, source: "path", command: path, path, args, env: {}, known }];
      }
      return [];
    });
  return [...configured, ...installed];
}

/** The PATH that an agent gets: that of the daemon, then where its program and ours are, so that `#!/usr/bin/env node` works. */
export function agentPath(
  found: Pick<FoundAgent, "path">,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  const before = (environment.PATH ?? "/usr/local/bin:/usr/bin:/bin").split(":");
  const more = [...(found.path === null ? [] : [dirname(found.path)]), dirname(process.execPath)];
  return [
    ...before,
    ...more.filter((folder, at) => !before.includes(folder) && more.indexOf(folder) === at),
  ].join(":");
}

function programPath(
  command: string,
  environment: FindAgentsOptions["environment"],
  userHome: string,
): string | null {
  return findProgram(command, environment.PATH) ?? findProgram(command, usualFolders(userHome).join(":"));
}
