import { useMemo } from "preact/hooks";
import { ansiLines } from "../../ansi/ansi-screen.ts";
import { AnsiText } from "../../ansi/ansi-text.tsx";
import { Button } from "../../ui/button.tsx";
import { scrollable } from "../../ui/scrollable.ts";
import { useConversation } from "../conversation-context.ts";

interface OutputViewProps {
  readonly text: string;
  readonly foldKey: string;
  /** Lines that are shown at first: the last ones. */
  readonly lines: number;
}

/** More is never drawn; a job's log shows the whole. */
const maxLines = 2_000;
const maxChars = 512 * 1024;

/** Output of a call with its colours: its end, and all of it when asked for. */
export function OutputView({ text, foldKey, lines: few }: OutputViewProps) {
  const showsAll = useConversation().expansions.of(`${foldKey} all`);
  const all = useMemo(() => ansiLines(text.slice(-maxChars), { maxLines }), [text]);
  const shown = showsAll.value === true ? all : all.slice(-few);
  const hidden = all.length - shown.length;
  const isCut = text.length > maxChars || (all[0]?.number ?? 0) > 0;
  return (
    <div class="output">
      {(hidden > 0 || (showsAll.value === true && isCut)) && (
        <p class="output-more">
          {hidden > 0 ? (
            <Button
              kind="quiet"
              icon="up"
              onClick={() => {
                showsAll.value = true;
              }}
            >
              Show {hidden} earlier {hidden === 1 ? "line" : "lines"}
            </Button>
          ) : (
            "What came before is not shown."
          )}
        </p>
      )}
      <pre {...scrollable} dir="ltr">
        <AnsiText lines={shown} />
      </pre>
    </div>
  );
}
