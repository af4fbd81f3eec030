import { describe, expect, it } from "vitest";
import { createOffers } from "../../src/pairing/offers.ts";

describe("createOffers", () => {
  it("makes a link and an SVG for each address, the code in the fragment and nowhere else", async () => {
    const [tunnel, local] = await createOffers(
      [
        { kind: "tunnel", address: "https://x.example/base" },
        { kind: "local", address: "http://127.0.0.1:7700" },
      ],
      "ABCDE-FGHJK",
    );
    expect(tunnel).toMatchObject({
      kind: "tunnel",
      address: "https://x.example/base",
      link: "https://x.example/base/#pair=ABCDE-FGHJK",
    });
    expect(local?.link).toBe("http://127.0.0.1:7700/#pair=ABCDE-FGHJK");
    expect(tunnel?.qr).toMatch(/^<svg [\s\S]*<\/svg>$/);
    expect(tunnel?.qr).not.toMatch(/script|ABCDE/);
    expect(tunnel?.qr.length).toBeLessThan(8_000);
    expect(tunnel?.qr).not.toBe(local?.qr);
  });
});
