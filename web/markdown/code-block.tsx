import { useEffect, useState } from "preact/hooks";
import { CopyButton } from "../ui/copy-button.tsx";
import "./code-block.css";
import { scrollable } from "../ui/scrollable.ts";
import { type CodePiece, highlightCode } from "./highlight.ts";
import { type Language, languageOf } from "./languages.ts";
import { proseText } from "./prose-text.ts";

interface CodeBlockProps {
  readonly code: string;
  /** What stands behind the fence. */
  readonly info: string;
  /** False while it is being written: then it stays plain. */
  readonly isClosed: boolean;
}

/** A block of code with its language, coloured as soon as the grammar is there. */
export function CodeBlock({ code, info, isClosed }: CodeBlockProps) {
  const language = languageOf(info);
  const pieces = useHighlighted(code, isClosed ? language : null);
  const label = info.trim().split(/\s/)[0]?.slice(0, 40) ?? "";
  return (
    <figure class="code-block" aria-label={label === "" ? "Code" : `Code, ${proseText(label)}`}>
      <figcaption>
        <span>{proseText(label) || "text"}</span>
        <CopyButton text={code} label="Copy this code" />
      </figcaption>
      <pre {...scrollable} dir="ltr">
        <code>{pieces === null ? proseText(code) : <CodePieces pieces={pieces} />}</code>
      </pre>
    </figure>
  );
}

/** Coloured code for other places: a file that a call writes. */
function CodePieces({ pieces }: { readonly pieces: readonly CodePiece[] }) {
  return (
    <>
      {pieces.map(({ text, classes }, index) =>
        // Pieces have no identity of their own: they are those of one text in order.
        classes === "" ? (
          proseText(text)
        ) : (
          <span key={index} class={classes}>
            {proseText(text)}
          </span>
        ),
      )}
    </>
  );
}

/** Null until it is coloured, or for good. */
function useHighlighted(code: string, language: Language | null): readonly CodePiece[] | null {
  const [done, setDone] = useState<{ readonly code: string; readonly pieces: readonly CodePiece[] } | null>(
    null,
  );
  useEffect(() => {
    if (language === null) return;
    let isCurrent = true;
    void highlightCode(code, language).then((pieces) => {
      if (isCurrent && pieces !== null) setDone({ code, pieces });
    });
    return () => {
      isCurrent = false;
    };
  }, [code, language]);
  return done?.code === code ? done.pieces : null;
}
