import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBlockReader } from "../../../web/markdown/block-reader.ts";
import { lexBlocks } from "../../../web/markdown/lex.ts";

const raws = (blocks: readonly { readonly token: { readonly type: string; readonly raw: string } }[]) =>
  blocks.map(({ token }) => `${token.type} ${token.raw}`);

describe("createBlockReader", () => {
  const pieces = fc.constantFrom(
    ..."a b. 1. 2. - * + > # ## ``` ~~~ | |-| --- === *x* [a] <div> </div> <!-- -->".split(" "),
    " ",
    "\n",
    "\n\n",
    "  ",
    "    ",
    "\r\n",
    "- [ ] ",
  );

  it("reads a text that grows as it reads the whole", () => {
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => {
        const reader = createBlockReader();
        let text = "";
        for (const part of parts) {
          text += part;
          reader.read(text, false);
        }
        const whole = lexBlocks(text.replace(/\r\n?/g, "\n")).tokens.map((token) => ({ token }));
        expect(raws(reader.read(text, true))).toEqual(raws(whole));
      }),
      { numRuns: 2_000 },
    );
  });

  it("lets a line change a block far before it", () => {
    const reader = createBlockReader();
    const text = "a\n1.\n|-|a";
    for (let end = 1; end <= text.length; end += 1) reader.read(text.slice(0, end), false);
    expect(raws(reader.read(text, true))).toEqual(raws(lexBlocks(text).tokens.map((token) => ({ token }))));
  });

  it("keeps the objects of closed blocks when the text is whole", () => {
    const reader = createBlockReader();
    const [first] = reader.read("# A\n\nb\n\nc\n\nd", false);
    expect(reader.read("# A\n\nb\n\nc\n\nd", true)[0]).toBe(first);
  });

  it("keeps the objects of blocks that are closed", () => {
    const reader = createBlockReader();
    const text = "# A\n\nb\n\n- c\n- d\n\n```\ne\n";
    const [first] = reader.read(text, false);
    expect(first?.isClosed).toBe(true);
    expect(reader.read(`${text}f\n`, false)[0]).toBe(first);
    expect(reader.read(`${text}f\n\`\`\`\n\ng\n\nh`, false)[0]).toBe(first);
  });

  it("gives the same blocks for the same text", () => {
    const reader = createBlockReader();
    expect(reader.read("a", true)).toBe(reader.read("a", true));
  });

  it("knows a link by a name that is given behind it, when the text is whole", () => {
    const reader = createBlockReader();
    reader.read("[a]\n\nb\n\nc\n\n[a]: https://x.example\n", false);
    const [first] = reader.read("[a]\n\nb\n\nc\n\n[a]: https://x.example\n", true);
    expect(first?.token).toMatchObject({ tokens: [{ type: "link", href: "https://x.example" }] });
  });

  it("begins anew when the text is another one", () => {
    const reader = createBlockReader();
    reader.read("a\n\nb\n\nc\n\nd", false);
    expect(raws(reader.read("x", true))).toEqual(["paragraph x"]);
  });
});
