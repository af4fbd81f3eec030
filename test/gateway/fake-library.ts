import type { Library } from "../../src/engine/library.ts";
import { SallyportError } from "../../src/errors.ts";

const notHere = (): never => {
  throw new SallyportError("not_found", "The test has no such thing.");
};

/** A library of nothing. */
export function fakeLibrary(overrides: Partial<Library> = {}): Library {
  return {
    listWorkspaces: () => [],
    listSessions: async () => ({ sessions: [], next: null }),
    deleteSession: async () => notHere(),
    usage: async () => notHere(),
    browse: async () => notHere(),
    tools: () => [],
    models: () => ({
      models: [],
      default_model: null,
      runtimes: [],
      default_runtime: "shell",
      add_agent: null,
    }),
    context: async () => notHere(),
    contextTokens: async () => null,
    close: async () => undefined,
    ...overrides,
  };
}
