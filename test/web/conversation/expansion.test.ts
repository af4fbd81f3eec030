import { describe, expect, it } from "vitest";
import { createExpansions } from "../../../web/conversation/expansion.ts";

describe("createExpansions", () => {
  it("keeps what the reader opened while its row is out of the page", () => {
    const expansions = createExpansions();
    expansions.of("a").value = true;
    expect(expansions.of("a").value).toBe(true);
    expect(expansions.of("b").value).toBeNull();
  });

  it("keeps the newest few hundred only", () => {
    const expansions = createExpansions();
    expansions.of("first").value = true;
    for (let i = 0; i < 1_000; i += 1) expansions.of(`k${i}`).value = true;
    expect(expansions.of("first").value).toBeNull();
    expect(expansions.of("k999").value).toBe(true);
  });
});
