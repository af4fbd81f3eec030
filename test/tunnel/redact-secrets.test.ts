import { describe, expect, it } from "vitest";
import { createRedactor } from "../../src/tunnel/redact-secrets.ts";

const secret = "2abcDEFghiJKLmno_345";

describe("createRedactor", () => {
  const redact = createRedactor([secret]);
  it.each([
    [`a ${secret} b ${secret}`, "a [secret] b [secret]"],
    ["cut at the end 2abcDEFghi", "cut at the end [secret]"],
    ["JKLmno_345 goes on", "[secret] goes on"],
    ["nothing of it: 2abc", "nothing of it: 2abc"],
    ["in the middle 2abcDEFghi of a line", "in the middle 2abcDEFghi of a line"],
    ["", ""],
  ])("%j becomes %j", (line, expected) => {
    expect(redact(line)).toBe(expected);
  });

  it("leaves lines alone where there is no secret", () => {
    expect(createRedactor([])("as it is")).toBe("as it is");
  });
});
