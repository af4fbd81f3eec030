import { SallyportError } from "../../errors.ts";
import type { TabDoc } from "../workspaces/workspace-doc.ts";
import type { Runtime } from "./runtime.ts";

export interface RuntimeChoice {
  readonly runtime: Runtime;
  /** The model that an agent gets: the one asked for, or the runtime's default; null where there is none to choose. */
  readonly chosen: string | null;
}

/**
 * Finds what runs an agent in a tab. Throws `invalid_field` (no such runtime or model), `not_supported` (a model where there
 * is none to choose), `path_refused` (a folder that nobody trusts).
 */
export type ChooseRuntime = (name: string, model: string | null, tab: Pick<TabDoc, "cwd">) => RuntimeChoice;

/**
 * Awaited before a model is chosen that somebody asked for: lets the runtime find out what there is. Does nothing without a
 * model, and in a folder that nobody trusts, which is refused later. Throws `SallyportError`.
 */
export type LearnModel = (name: string, model: string | null, tab: Pick<TabDoc, "cwd">) => Promise<void>;

/** For runtimes that know their models only after their program was asked, which may take seconds. */
export function createModelLearner({
  runtimes,
  isTrusted,
}: Pick<ChooseRuntimeOptions, "runtimes" | "isTrusted">): LearnModel {
  return async (name, model, tab) => {
    const runtime = runtimes.get(name);
    if (model !== null && isTrusted(tab.cwd)) await runtime?.learnModels?.(tab.cwd, model);
  };
}

export interface ChooseRuntimeOptions {
  readonly runtimes: ReadonlyMap<string, Runtime>;
  readonly isTrusted: (cwd: string) => boolean;
  /** Why a runtime that could be is not there, and what to do; null where nothing is known of the name. */
  readonly explain: (name: string) => string | null;
}

/** `explain` is asked only for a name that no runtime has: its text becomes the refusal. */
export function createRuntimeChooser({ runtimes, isTrusted, explain }: ChooseRuntimeOptions): ChooseRuntime {
  return (name, model, tab) => {
    const runtime = knownRuntime(runtimes, name, explain);
    if (model !== null && !runtime.takesModel)
      throw new SallyportError("not_supported", `The runtime ${runtime.name} has no model to choose.`, {
        field: "model",
      });
    if (runtime.needsTrust && !isTrusted(tab.cwd))
      throw new SallyportError(
        "path_refused",
        "In a folder that nobody has trusted only the shell runs. Open a tab on it from a device that may approve.",
      );
    return { runtime, chosen: runtime.chooseModel ? runtime.chooseModel(model) : model };
  };
}

/** Throws `invalid_field` (`runtime`). */
export function knownRuntime(
  runtimes: ReadonlyMap<string, Runtime>,
  name: string,
  explain: (name: string) => string | null,
): Runtime {
  const runtime = runtimes.get(name);
  if (runtime) return runtime;
  const names = [...runtimes.keys()].join(", ");
  throw new SallyportError(
    "invalid_field",
    explain(name) ?? `There is no such runtime; there are: ${names}.`,
    { field: "runtime" },
  );
}
