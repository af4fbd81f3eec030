import { describe, expect, it } from "vitest";
import { createRequestDigester, createTokenDigester, digestsEqual } from "../../src/auth/token-digest.ts";

describe.each([{ create: createTokenDigester }, { create: createRequestDigester }])(
  "$create.name",
  ({ create }) => {
    it("gives one digest for one secret, and another in another process", () => {
      const [one, other] = [create(), create()];
      expect(digestsEqual(one.digest("a"), one.digest("a"))).toBe(true);
      expect(digestsEqual(one.digest("a"), one.digest("b"))).toBe(false);
      expect(digestsEqual(one.digest("a"), other.digest("a"))).toBe(false);
    });

    it("compares digests of unequal length without throwing", () => {
      expect(digestsEqual("", create().digest("a"))).toBe(false);
    });
  },
);
