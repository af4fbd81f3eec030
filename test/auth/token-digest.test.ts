import { describe, expect, it } from "vitest";
import { createTokenDigester, digestsEqual } from "../../src/auth/token-digest.ts";

describe("createTokenDigester", () => {
  it("gives one digest for one secret, and another in another process", () => {
    const [one, other] = [createTokenDigester(), createTokenDigester()];
    expect(digestsEqual(one.digest("a"), one.digest("a"))).toBe(true);
    expect(digestsEqual(one.digest("a"), one.digest("b"))).toBe(false);
    expect(digestsEqual(one.digest("a"), other.digest("a"))).toBe(false);
  });

  it("compares digests of unequal length without throwing", () => {
    expect(digestsEqual("", createTokenDigester().digest("a"))).toBe(false);
  });
});
