import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Static, Type } from "typebox";
import { createChecker } from "../../../lib/checker.ts";
import { limits } from "../../../protocol/limits.ts";
import { createCacheFile } from "../../sessions/cache-file.ts";
import { acpLimits } from "./acp-limits.ts";
import type { SessionOptions } from "./session-options.ts";

/** What an agent let one choose when it was last started: `cache/agents/<name>.json`, so that it is known before it is started again. */
const KnownSchema = Type.Object({
  version: Type.Literal(1),
  models: Type.Array(
    Type.Object({
      id: Type.String({ minLength: 1, maxLength: limits.modelChars }),
      name: Type.String({ maxLength: 200 }),
      contextTokens: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]),
    }),
    { maxItems: acpLimits.models },
  ),
  model: Type.Union([Type.String({ maxLength: limits.modelChars }), Type.Null()]),
  thinkingLevels: Type.Array(Type.String({ maxLength: limits.modelChars }), { maxItems: acpLimits.models }),
});
type Known = Static<typeof KnownSchema>;
const schema = createChecker(KnownSchema);
const maxBytes = 1024 * 1024;

export interface KnownOptions {
  /** Null where nothing is known. */
  get(): Omit<Known, "version"> | null;
  take(options: Pick<SessionOptions, "models" | "model" | "thinkingLevels">): void;
}

/** @param name of the runtime; it was checked to be fit for a file name */
export function createKnownOptions(
  homeFolder: string,
  name: string,
  report: (problem: string) => void,
): KnownOptions {
  const path = join(homeFolder, "cache", "agents", `${encodeURIComponent(name)}.json`);
  const file = createCacheFile<Known>({ path, parse: () => null, report });
  let known: Known | null | undefined;

  /** Asked for in the middle of an answer, so it is read at once; it is small. */
  function read(): Known | null {
    try {
      if (statSync(path).size > maxBytes) return null;
      const value: unknown = JSON.parse(readFileSync(path, "utf8"));
      return schema.check(value) ? value : null;
    } catch {
      // None yet, or damaged: it is found out again when the agent is started.
      return null;
    }
  }

  return {
    get() {
      known ??= read();
      return known;
    },
    take({ models, model, thinkingLevels }) {
      const next: Known = {
        version: 1,
        models: models.map((each) => ({ ...each })),
        model,
        thinkingLevels: [...thinkingLevels],
      };
      if (JSON.stringify(next) === JSON.stringify(known ?? null)) return;
      known = next;
      void file.write(next);
    },
  };
}
