import { type Runtime, runtimeRegistry } from "./runtime.ts";

/** Runtimes that come and go while the daemon runs: agents of the configuration and of this machine. */
export interface RuntimeSource {
  /** Those that can be chosen now, the most fitting first. */
  list(): readonly Runtime[];
  /** One by name, or by an alias of it; also one that can no longer be chosen, while agents of it are still open. */
  find(name: string): Runtime | null;
  /** For a name that could be a runtime and is none now: why, and what to do, in a sentence. */
  explain(name: string): string | null;
  /** How to get an agent, in a sentence; null where there is one. */
  addAgent(): string | null;
}

export const noRuntimeSource: RuntimeSource = {
  list: () => [],
  find: () => null,
  explain: () => null,
  addAgent: () => null,
};

/** The built-in runtimes and those of a source as one map, which shows at each look what there is then. */
export function liveRegistry(
  builtIn: readonly Runtime[],
  source: RuntimeSource,
): ReadonlyMap<string, Runtime> {
  const own = runtimeRegistry(builtIn);
  const all = (): ReadonlyMap<string, Runtime> =>
    new Map([
      ...own,
      ...source
        .list()
        .filter(({ name }) => !own.has(name))
        .map((runtime) => [runtime.name, runtime] as const),
    ]);
  const get = (name: string): Runtime | undefined => own.get(name) ?? source.find(name) ?? undefined;
  return {
    get,
    has: (name) => get(name) !== undefined,
    get size() {
      return all().size;
    },
    keys: () => all().keys(),
    values: () => all().values(),
    entries: () => all().entries(),
    forEach: (visit) => all().forEach(visit),
    [Symbol.iterator]: () => all().entries(),
  };
}
