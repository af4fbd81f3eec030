import type { Mode } from "../../src/protocol/objects.ts";

/** What a tab's mode means, in two words. */
export const modeWords: Readonly<Record<Mode, string>> = {
  ask: "Asks first",
  edits: "Edits freely",
  autopilot: "Autopilot",
};
