import type { Sessions } from "../../src/engine/sessions/sessions.ts";
import { SallyportError } from "../../src/errors.ts";

const notHere = (): never => {
  throw new SallyportError("not_found", "The test has no such thing.");
};

/** No sessions. */
export function fakeSessions(overrides: Partial<Sessions> = {}): Sessions {
  return {
    get: async () => notHere(),
    list: async () => [],
    update: async () => notHere(),
    regenerateTitle: async () => notHere(),
    clear: async () => notHere(),
    setThinking: async () => notHere(),
    submit: async () => notHere(),
    receipt: async (_session, request_id) => ({
      request_id,
      status: "unknown",
      agent: null,
      turn: null,
      message: null,
    }),
    unload: async () => undefined,
    projects: async () => [],
    listFolder: async () => notHere(),
    previewFile: async () => notHere(),
    ...overrides,
  };
}
