import { describe, expect, it } from "vitest";
import { mewClientSchemas, mewUnsupportedTypes } from "../../../src/protocol/mew/client-messages.ts";
import { isSentIn, mewServerSchemas } from "../../../src/protocol/mew/server-messages.ts";
import { spell, spellingOf, toCamel, toSnake } from "../../../src/protocol/mew/spelling.ts";

describe("spelling", () => {
  const tags = [...Object.keys(mewClientSchemas), ...Object.keys(mewServerSchemas), ...mewUnsupportedTypes];

  it.each(tags)("turns %s into its other spelling and back", (tag) => {
    expect(toSnake(toCamel(tag))).toBe(tag);
    expect(toSnake(tag)).toBe(tag);
    expect(spellingOf(tag)).toBe("snake");
    expect(spellingOf(toCamel(tag))).toBe("camel");
    expect(spell(tag, "camel")).toBe(toCamel(tag));
    expect(spell(tag, "snake")).toBe(tag);
  });

  it.each([
    ["SubmitPrompt", "camel"],
    ["Ping", "camel"],
    ["submit_prompt", "snake"],
    ["ping", "snake"],
    ["newSession", null],
    ["new_Session", null],
    ["New_Session", null],
    ["new-session", null],
    ["_ping", null],
    ["", null],
    ["ping ", null],
    ["x".repeat(65), null],
  ])("finds the spelling of %j: %s", (tag, spelling) => {
    expect(spellingOf(tag)).toBe(spelling);
  });

  it("sends a connection in the document's spelling its messages only", () => {
    expect(isSentIn("session_history", "camel")).toBe(true);
    expect(isSentIn("session_history_page", "camel")).toBe(false);
    expect(isSentIn("session_history_page", "snake")).toBe(true);
  });
});
