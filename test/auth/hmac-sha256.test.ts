import { createHmac } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createHmacSha256 } from "../../src/auth/hmac-sha256.ts";

describe("createHmacSha256", () => {
  it.each([
    // RFC 4231, test cases 1, 2 and 4.
    ["0b".repeat(20), "Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"],
    [
      "4a656665",
      "what do ya want for nothing?",
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    ],
    [
      "0102030405060708090a0b0c0d0e0f10111213141516171819",
      "\xcd".repeat(50),
      "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
    ],
  ])("gives what the RFC says for the key %s", (key, text, digest) => {
    const made = createHmacSha256(Buffer.from(key, "hex"))(text);
    expect(Buffer.from(made, "base64url").toString("hex")).toBe(digest);
  });

  it("gives what the platform gives, whatever the key and text, one after the other", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 64 }),
        fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 4 }),
        (key, texts) => {
          const hmac = createHmacSha256(Buffer.from(key));
          for (const text of texts)
            expect(hmac(Buffer.from(text).toString("latin1"))).toBe(
              createHmac("sha256", key).update(text).digest("base64url"),
            );
        },
      ),
    );
  });

  it("takes no key that is longer than a block", () => {
    expect(() => createHmacSha256(Buffer.alloc(65))).toThrow(TypeError);
  });
});
