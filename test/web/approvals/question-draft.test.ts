import { describe, expect, it } from "vitest";
import { answersOf, draftOf, withOption, withText } from "../../../web/approvals/question-draft.ts";
import { question } from "./samples.ts";

const options = [
  { label: "sqlite", description: null },
  { label: "postgres", description: null },
];
const one = question([{ prompt: "Which?", options, multiple: false }]);
const many = question([{ prompt: "Which?", options, multiple: true }]);
const empty = [{ chosen: [], text: "" }];

describe("the draft of an answer", () => {
  it("has no answer at first", () => {
    expect(answersOf(one, empty)).toEqual([null]);
    expect(answersOf(many, empty)).toEqual([null]);
  });

  it("takes one option, or words of one's own, for a part that takes one", () => {
    const chosen = withOption(withOption(empty, 0, "sqlite", false), 0, "postgres", false);
    expect(answersOf(one, chosen)).toEqual(["postgres"]);
    const written = withText(chosen, 0, " a file ", false);
    expect(answersOf(one, written)).toEqual(["a file"]);
    expect(answersOf(one, withOption(written, 0, "sqlite", false))).toEqual(["sqlite"]);
    expect(answersOf(one, withText(chosen, 0, "", false))).toEqual(["postgres"]);
  });

  it("takes several with a line feed between them, in the order in which they stand", () => {
    const chosen = withOption(withOption(empty, 0, "postgres", true), 0, "sqlite", true);
    expect(answersOf(many, chosen)).toEqual(["sqlite\npostgres"]);
    expect(answersOf(many, withText(chosen, 0, "both", true))).toEqual(["sqlite\npostgres\nboth"]);
    expect(answersOf(many, withOption(chosen, 0, "sqlite", true))).toEqual(["postgres"]);
  });

  it("is the same one wherever the question is shown", () => {
    expect(draftOf(one)).toBe(draftOf(one));
    expect(draftOf(one)).not.toBe(draftOf(many));
  });
});
