import { describe, expect, it } from "vitest";
import { blockNode } from "../../../web/markdown/block.tsx";
import { lexBlocks } from "../../../web/markdown/lex.ts";
import { toText } from "../support/to-text.ts";

const shown = (text: string): string =>
  lexBlocks(text)
    .tokens.map((token) => toText(blockNode(token, true)))
    .join("")
    .replaceAll(' dir="auto"', "")
    .replaceAll(' dir="ltr"', "");

describe("blockNode", () => {
  it.each([
    [
      "a paragraph",
      "a *b* **c** ~~d~~ `e`",
      "<p>a <em>b</em> <strong>c</strong> <del>d</del> <code>e</code></p>",
    ],
    ["a heading, below those of the page", "# Title", '<h3 class="depth-1">Title</h3>'],
    ["a deep heading, of the same level", "###### Title", '<h3 class="depth-6">Title</h3>'],
    ["a tight list", "- a\n- b", "<ul><li>a</li><li>b</li></ul>"],
    ["a loose list", "- a\n\n- b", "<ul><li><p>a</p></li><li><p>b</p></li></ul>"],
    ["a list that begins at 3", "3. a\n4. b", "<ol start=3><li>a</li><li>b</li></ol>"],
    ["a nested list", "- a\n  - b", "<ul><li>a<ul><li>b</li></ul></li></ul>"],
    [
      "a task list",
      "- [x] a\n- [ ] b",
      '<ul><li class="task"><span class="task-mark" role="img" aria-label="done">☑</span>a</li><li class="task"><span class="task-mark" role="img" aria-label="to do">☐</span>b</li></ul>',
    ],
    ["a quote", "> a\n> b", "<blockquote><p>a\nb</p></blockquote>"],
    ["a rule", "---", "<hr></hr>"],
    [
      "character references",
      "&lt;b&gt; &amp;amp; &copy; &#x41;&#66; &nope; &#0;",
      "<p>&lt;b&gt; &amp; © AB &nope; \ufffd</p>",
    ],
    ["code as it is written", "`a &amp; <b>`", "<p><code>a &amp; &lt;b&gt;</code></p>"],
    ["a break", "a  \nb", "<p>a<br></br>b</p>"],
  ])("shows %s", (_name, text, expected) => {
    expect(shown(text).replaceAll("&amp;amp;", "&amp;")).toBe(expected.replaceAll("&amp;amp;", "&amp;"));
  });

  it("hands code to its view, with its language and whether it may still grow", () => {
    expect(shown("```ts\nlet a;\n```")).toBe('<CodeBlock code="let a;" info="ts" isClosed=true></CodeBlock>');
    expect(toText(blockNode(lexBlocks("```\nx").tokens[0] ?? never(), false))).not.toContain("isClosed");
  });

  it("shows a table with the cells aligned, in a box that scrolls", () => {
    expect(shown("|a|b|\n|-|-:|\n|1|2|")).toBe(
      '<figure class="table-scroll" aria-label="Table" tabIndex=0><table><thead><tr><th scope="col">a</th><th class="align-right" scope="col">b</th></tr></thead><tbody><tr><td>1</td><td class="align-right">2</td></tr></tbody></table></figure>',
    );
  });

  it("opens links elsewhere, without telling from where", () => {
    expect(shown("[a](https://x.example/?a=1&amp;b=2)")).toBe(
      '<p><a href="https://x.example/?a=1&b=2" target="_blank" rel="noopener noreferrer">a</a></p>',
    );
  });

  it("shows where a link leads whose text names another place", () => {
    expect(shown("[bank.example](https://evil.example/)")).toContain(
      '<span class="link-target"> (evil.example)</span>',
    );
    expect(shown("[x.example](https://www.x.example/)")).not.toContain("link-target");
  });

  it("keeps the text of a link to a file, and makes no link of it", () => {
    expect(shown("[store.ts](src/store.ts#L3)")).toBe('<p><span title="src/store.ts#L3">store.ts</span></p>');
  });

  it("never loads a picture: it is a link that says where it leads", () => {
    expect(shown("![chart](https://x.example/a.png)")).toBe(
      '<p><a href="https://x.example/a.png" target="_blank" rel="noopener noreferrer">chart</a><span class="link-target"> (x.example)</span></p>',
    );
    expect(shown("![chart](data:image/svg+xml,<svg>)")).toBe("<p><span>[chart]</span></p>");
  });
});

function never(): never {
  throw new Error("no token");
}
