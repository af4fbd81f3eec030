import type { ModelList, RuntimeRow } from "../../protocol/rest-objects.ts";
import type { Runtime } from "./runtime.ts";

export interface RuntimesViewOptions {
  readonly runtimes: ReadonlyMap<string, Runtime>;
  /** What runs in new tabs, when nobody says. */
  readonly tabRuntime: () => string;
  /** How to get a coding agent, in a sentence; null where there is one. */
  readonly addAgent: () => string | null;
}

/** What can run agents here, how it is, and the models that it can use; looks only, and starts nothing. */
export function runtimesView(options: RuntimesViewOptions): ModelList {
  const runtimes = [...options.runtimes.values()];
  const wanted = options.runtimes.get(options.tabRuntime());
  return {
    models: runtimes.flatMap((runtime) => runtime.models?.() ?? []),
    default_model: wanted === undefined ? null : defaultModel(wanted),
    runtimes: runtimes.map(rowOf),
    default_runtime: wanted?.name ?? "shell",
    add_agent: options.addAgent(),
  };
}

function rowOf(runtime: Runtime): RuntimeRow {
  return {
    name: runtime.name,
    ...(runtime.about?.() ?? {
      title: runtime.name,
      kind: "model",
      source: "built_in",
      state: "ready",
      message: "Is built in.",
      next: null,
      version: null,
    }),
    takes_model: runtime.takesModel,
    needs_trust: runtime.needsTrust,
  };
}

function defaultModel(runtime: Runtime): string | null {
  try {
    return runtime.chooseModel?.(null) ?? null;
  } catch {
    // It has none to choose now; whoever starts an agent hears why.
    return null;
  }
}
