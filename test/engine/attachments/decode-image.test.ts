import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeImage } from "../../../src/engine/attachments/decode-image.ts";
import { fenced } from "../../../src/engine/attachments/fence.ts";
import { sniffImage } from "../../../src/engine/attachments/sniff-image.ts";
import { SallyportError } from "../../../src/errors.ts";
import { limits } from "../../../src/protocol/limits.ts";

const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

describe("sniffImage", () => {
  it.each([
    ["89504e470d0a1a0a00", "image/png"],
    ["ffd8ffe000104a464946", "image/jpeg"],
    ["474946383961", "image/gif"],
    ["474946383761", "image/gif"],
    ["52494646aabbccdd57454250", "image/webp"],
    ["52494646aabbccdd57415645", null],
    ["3c73766720", null],
    ["424d", null],
    ["89504e47", null],
    ["", null],
  ])("%s: %s", (hex, expected) => {
    expect(sniffImage(Buffer.from(hex, "hex"))).toBe(expected);
  });
});

describe("decodeImage", () => {
  it("goes by the bytes, not by the name or the type that was claimed", () => {
    const attached = decodeImage({ name: "not\u202ea.jpg", data: png.toString("base64") }, 0);
    expect(attached).toMatchObject({
      label: { name: "nota.jpg", kind: "image" },
      part: { type: "image", mime: "image/png" },
    });
    expect(attached.part.type === "image" && Buffer.compare(attached.part.bytes, png)).toBe(0);
  });

  it("calls one without a name that can be shown just image, and takes padding or none", () => {
    const data = Buffer.concat([png, Buffer.from([1])]).toString("base64");
    expect(decodeImage({ name: "\u202e", data: data.replace(/=+$/, "") }, 0).label.name).toBe("image");
    expect(decodeImage({ name: "x", data }, 0).label.name).toBe("x");
  });

  it.each([
    ["empty", ""],
    ["only padding", "=="],
    ["with a newline", `${png.toString("base64").slice(0, 8)}\n${png.toString("base64").slice(8)}`],
    ["of the URL alphabet", "iVBORw0KGgo_-AAA"],
    ["a data URL", `data:image/png;base64,${png.toString("base64")}`],
    ["with padding in the middle", "iVBO=w0KGgoAAAAA"],
    ["with too much padding", `${png.toString("base64").replace(/=+$/, "")}===`],
    ["of an impossible length", "iVBORw0KG"],
    ["text", Buffer.from("hello world").toString("base64")],
    ["an SVG, which can hold scripts", Buffer.from("<svg onload='x'>").toString("base64")],
  ])("refuses data that is %s", (_title, data) => {
    expect(() => decodeImage({ name: "x", data }, 3)).toThrow(
      expect.objectContaining({ code: "invalid_field", field: "images.3.data" }),
    );
  });

  it("takes an image of 10 MB and refuses one byte more", () => {
    const image = Buffer.concat([png, Buffer.alloc(limits.imageBytes - png.length)]);
    expect(decodeImage({ name: "x", data: image.toString("base64") }, 0).part.type).toBe("image");
    const larger = Buffer.concat([image, Buffer.from([0])]);
    expect(() => decodeImage({ name: "x", data: larger.toString("base64") }, 0)).toThrow(
      expect.objectContaining({ code: "too_large", field: "images.0.data" }),
    );
  });

  it("makes a coded refusal of any text, never a fault", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (name, data) => {
        try {
          decodeImage({ name, data }, 0);
        } catch (error) {
          expect(error).toBeInstanceOf(SallyportError);
        }
      }),
    );
  });
});

describe("fenced", () => {
  it.each(["", "text", "```\nrm -rf /\n```", "a ```` b\n`````"])(
    "injection: nothing in %j ends the block",
    (text) => {
      const lines = fenced("x:", text).split("\n");
      const fence = lines[1] ?? "";
      expect(lines.at(-1)).toBe(fence);
      expect(lines.slice(2, -1).filter((line) => line.startsWith(fence))).toEqual([]);
    },
  );
});
