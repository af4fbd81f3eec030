import type { CommandOf } from "../../protocol/commands.ts";
import type { Tab } from "../../protocol/objects.ts";
import type { Actor } from "../actor.ts";
import type { Agents } from "../agents/agents.ts";
import { noTab } from "../not-found.ts";
import type { ChooseRuntime } from "../runtimes/choose-runtime.ts";
import type { ProjectDefault, ProjectDefaults } from "./project-defaults.ts";
import type { Workspaces } from "./workspaces.ts";

export interface NewTabRuntimeOptions {
  readonly defaults: Pick<ProjectDefaults, "get">;
  /** What the configuration says. */
  readonly fallback: () => string;
  /** The proper name of a runtime that there is. Throws `invalid_field`. */
  readonly nameOf: (name: string) => string;
  /** False for a runtime that does not run in this folder. */
  readonly mayRun: (runtime: string, cwd: string) => boolean;
}

/**
 * What a new tab runs: what was asked for, else what a person chose for the folder, else what the configuration says. A
 * choice that cannot run in the folder, or is gone, falls through to the shell; only one that was asked for is refused.
 */
export function createNewTabRuntime(options: NewTabRuntimeOptions) {
  return (asked: string | undefined, cwd: string): ProjectDefault => {
    if (asked !== undefined) return { runtime: options.nameOf(asked), model: null };
    const chosen = options.defaults.get(cwd);
    if (chosen !== null && options.mayRun(chosen.runtime, cwd)) return chosen;
    const runtime = options.fallback();
    return { runtime: options.mayRun(runtime, cwd) ? options.nameOf(runtime) : "shell", model: null };
  };
}

export interface TabRuntimeOptions {
  readonly workspaces: Workspaces;
  readonly agents: Agents;
  readonly runtimeFor: ChooseRuntime;
  readonly defaults: ProjectDefaults;
  readonly isClosing: (tab: string) => boolean;
  readonly assertOpen: () => void;
}

/** Changes what new agents of a tab run, and with `project` what new tabs on its folder run. */
export function createTabRuntime(options: TabRuntimeOptions) {
  const { workspaces, agents } = options;
  return async (command: CommandOf<"tab_runtime">, actor: Actor): Promise<Tab> => {
    options.assertOpen();
    actor.assertLive();
    const place = workspaces.store.findTab(command.tab);
    if (!place || options.isClosing(command.tab)) throw noTab();
    const { cwd } = place.tab;
    const model = command.model ?? null;
    // Judged as for an agent, so that the next prompt is not the first to hear that it cannot be.
    const { runtime } = options.runtimeFor(command.runtime, model, place.tab);
    const chosen = { runtime: runtime.name, model };
    const commit = (): void => {
      options.assertOpen();
      actor.assertLive();
    };
    await workspaces.changeTab(command.tab, (tab) => ({ ...tab, ...chosen }), commit);
    if (command.project) await options.defaults.set(cwd, chosen, commit);
    agents.announceTab(command.tab);
    const row = agents.tabRow(command.tab);
    if (!row) throw noTab();
    return row;
  };
}
