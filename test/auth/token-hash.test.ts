import { describe, expect, it } from "vitest";
import { createTokenHasher, tokenHashPattern } from "../../src/auth/token-hash.ts";

describe("createTokenHasher", () => {
  it("hashes with argon2id, 19 MiB, two passes, one lane, and knows the secret again", async () => {
    const hasher = createTokenHasher();
    const hash = await hasher.hash("a secret");
    expect(hash).toMatch(new RegExp(tokenHashPattern));
    expect(await hasher.verify(hash, "a secret")).toBe(true);
    expect(await hasher.verify(hash, "a secreT")).toBe(false);
  });

  it("flood: refuses with overloaded beyond its queue, and finishes what it took", async () => {
    const hasher = createTokenHasher({ maxRunning: 1, maxQueued: 3 });
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => hasher.hash("x")));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(4);
    for (const result of results)
      if (result.status === "rejected")
        expect(result.reason).toMatchObject({ code: "overloaded", status: 503 });
    expect(await hasher.hash("x")).toMatch(/^\$argon2id/);
  });

  it("gives its place back when a check fails", async () => {
    const hasher = createTokenHasher({ maxRunning: 1, maxQueued: 0 });
    await expect(hasher.verify("no hash at all", "x")).rejects.toThrow();
    expect(await hasher.hash("x")).toMatch(/^\$argon2id/);
  });
});
