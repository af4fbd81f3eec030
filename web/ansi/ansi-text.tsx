import "./ansi.css";
import type { AnsiLine } from "./ansi-screen.ts";
import { ansiClasses } from "./sgr.ts";

/** One line of terminal output, without its end. */
export function AnsiLineView({ line }: { readonly line: AnsiLine }) {
  return (
    <>
      {line.spans.map(({ text, style }, index) => {
        const names = ansiClasses(style);
        // Spans have no identity of their own: they are those of one line in order.
        return names === "" ? (
          text
        ) : (
          <span key={index} class={names}>
            {text}
          </span>
        );
      })}
    </>
  );
}

/** Lines of terminal output, for inside a `pre`. */
export function AnsiText({ lines }: { readonly lines: readonly AnsiLine[] }) {
  return (
    <>
      {lines.map((line, index) => (
        <span key={line.number}>
          {index > 0 && "\n"}
          <AnsiLineView line={line} />
        </span>
      ))}
    </>
  );
}
