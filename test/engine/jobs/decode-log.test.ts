import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  decodeChunk,
  nextUnitStart,
  placeOf,
  startOfLast,
  startOfLines,
} from "../../../src/engine/jobs/decode-log.ts";

const whole = (bytes: Uint8Array): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);

/** Bytes that are nearly UTF-8: whole characters, halves of them, surrogates, overlong forms, what is above U+10FFFF. */
const nearUtf8 = fc
  .array(
    fc.oneof(
      fc
        .constantFrom("a", "\n", "é", "€", "😀", "\uFEFF", "\u{10FFFF}", "\0")
        .map((text) => [...Buffer.from(text)]),
      fc.constantFrom(
        [0xc3],
        [0xe2, 0x82],
        [0xf0, 0x9f, 0x98],
        [0x98],
        [0xed, 0xa0, 0x80],
        [0xc0, 0x80],
        [0xe0, 0x80, 0x80],
        [0xf0, 0x80, 0x80, 0x80],
        [0xf4, 0x90, 0x80, 0x80],
        [0xff],
      ),
      fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 4 }),
    ),
    { maxLength: 40 },
  )
  .map((parts) => Uint8Array.from(parts.flat()));

describe("decodeChunk", () => {
  it("joins chunks of any size to what a UTF-8 decoder makes of the whole", () => {
    fc.assert(
      fc.property(nearUtf8, fc.integer({ min: 4, max: 20 }), (bytes, maxBytes) => {
        let text = "";
        let at = 0;
        while (at < bytes.length) {
          const chunk = decodeChunk(bytes.subarray(at), maxBytes, true);
          expect(chunk.taken).toBeGreaterThan(0);
          expect(Buffer.byteLength(chunk.text)).toBeLessThanOrEqual(maxBytes);
          text += chunk.text;
          at += chunk.taken;
        }
        expect(text).toBe(whole(bytes));
      }),
      { numRuns: 2_000 },
    );
  });

  it("gives the same text when the log grew byte by byte and was read after each", () => {
    fc.assert(
      fc.property(nearUtf8, (bytes) => {
        let text = "";
        let at = 0;
        for (let size = 0; size <= bytes.length; size += 1) {
          const chunk = decodeChunk(bytes.subarray(at, size), 65_536, size === bytes.length);
          text += chunk.text;
          at += chunk.taken;
        }
        expect(text).toBe(whole(bytes));
      }),
      { numRuns: 2_000 },
    );
  });

  it("holds back a character that the end of a running log cuts, and replaces it once the job has ended", () => {
    const cafe = Uint8Array.from([0x63, 0x61, 0x66, 0xc3]);
    expect(decodeChunk(cafe, 100, false)).toEqual({ text: "caf", taken: 3 });
    expect(decodeChunk(cafe, 100, true)).toEqual({ text: "caf\uFFFD", taken: 4 });
  });

  it("takes fewer bytes when replacing invalid ones would make the text too long", () => {
    expect(decodeChunk(new Uint8Array(100).fill(0xff), 10, false)).toEqual({
      text: "\uFFFD".repeat(3),
      taken: 3,
    });
  });

  it("keeps a byte order mark", () => {
    expect(decodeChunk(Uint8Array.from([0xef, 0xbb, 0xbf, 0x61]), 100, true).text).toBe("\uFEFFa");
  });
});

/** Where units begin when the whole is decoded from its first byte. */
function unitStarts(bytes: Uint8Array): Set<number> {
  const starts = new Set<number>([bytes.length]);
  for (let at = 0; at < bytes.length; ) {
    starts.add(at);
    let most = 1;
    // One unit is what a decoder takes for the smallest bound that lets it take anything.
    while (decodeChunk(bytes.subarray(at), most, true).taken === 0) most += 1;
    at += decodeChunk(bytes.subarray(at, at + 4), most, true).taken;
  }
  return starts;
}

describe("nextUnitStart", () => {
  it("finds the next place where a decoder of the whole begins a unit, from 3 bytes of context", () => {
    fc.assert(
      fc.property(nearUtf8, fc.nat(), (bytes, raw) => {
        const from = bytes.length === 0 ? 0 : raw % (bytes.length + 1);
        const first = Math.max(0, from - 3);
        const found = first + nextUnitStart(bytes.subarray(first), from - first);
        const starts = [...wholeStarts(bytes)].filter((start) => start >= from);
        expect(found).toBe(Math.min(...starts));
      }),
      { numRuns: 2_000 },
    );
  });
});

/** As `unitStarts`, by decoding ever longer beginnings: independent of the code under test. */
function wholeStarts(bytes: Uint8Array): Set<number> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const starts = new Set<number>([0, bytes.length]);
  for (let at = 1; at < bytes.length; at += 1) {
    const joined = decoder.decode(bytes.subarray(0, at)) + decoder.decode(bytes.subarray(at));
    if (joined === whole(bytes)) starts.add(at);
  }
  return starts;
}

describe("placeOf", () => {
  const text = Buffer.from("aé€😀z");
  const inside = [2, 4, 5, 7, 8, 9];
  it.each([...Array(text.length + 1).keys()])(
    "tells whether byte %i of a valid text is inside a character",
    (at) => {
      expect(placeOf(text, at)).toBe(inside.includes(at) ? "inside" : "start");
    },
  );

  it("does not call the bytes of an invalid part a character", () => {
    expect(placeOf(Uint8Array.from([0xed, 0xa0, 0x80]), 1)).toBe("start");
    expect(placeOf(Uint8Array.from([0xf0, 0x9f, 0x41]), 1)).toBe("start");
    expect(placeOf(Uint8Array.from([0x80, 0x80, 0x80, 0x80]), 3)).toBe("start");
  });

  it("knows a character that the end cuts", () => {
    expect(placeOf(Uint8Array.from([0xf0, 0x9f, 0x98]), 2)).toBe("cut");
    expect(placeOf(Uint8Array.from([0xf0, 0x9f, 0x98]), 3)).toBe("cut");
  });
});

describe("startOfLast", () => {
  it("keeps the longest end that fits and begins with a unit", () => {
    fc.assert(
      fc.property(nearUtf8, fc.integer({ min: 4, max: 20 }), (bytes, maxBytes) => {
        const start = startOfLast(bytes, maxBytes, true);
        const rest = whole(bytes.subarray(start));
        expect(unitStarts(bytes).has(start)).toBe(true);
        expect(whole(bytes).endsWith(rest)).toBe(true);
        expect(Buffer.byteLength(rest)).toBeLessThanOrEqual(maxBytes);
        if (start > 0) expect(Buffer.byteLength(rest)).toBeGreaterThan(maxBytes - 4);
      }),
    );
  });
});

describe("startOfLines", () => {
  it.each([
    ["a\nb\nc\n", 1, "c\n"],
    ["a\nb\nc\n", 2, "b\nc\n"],
    ["a\nb\nc", 1, "c"],
    ["a\nb\nc", 3, "a\nb\nc"],
    ["a\nb\nc", 9, "a\nb\nc"],
    ["\n\n\n", 2, "\n\n"],
    ["\n", 1, "\n"],
    ["", 1, ""],
    ["no newline", 1, "no newline"],
  ])("of %j the last %i lines are %j", (text, lines, expected) => {
    const bytes = Buffer.from(text);
    expect(bytes.subarray(startOfLines(bytes, lines)).toString()).toBe(expected);
  });
});
