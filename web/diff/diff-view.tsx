import { proseText } from "../markdown/prose-text.ts";
import "./diff.css";
import { scrollable } from "../ui/scrollable.ts";
import { type Diff, type DiffRow, maxDiffLineChars } from "./diff-row.ts";

interface DiffViewProps {
  readonly diff: Diff;
  /** The file that changes. */
  readonly path: string;
}

const signs = { added: "+", removed: "−", same: " ", gap: "⋯", note: "!" } as const;
const words = { added: "added: ", removed: "removed: ", same: "", gap: "", note: "note: " } as const;

/** A change line by line. What is added and removed is said by sign and word, and by colour only besides. */
export function DiffView({ diff, path }: DiffViewProps) {
  const { rows, added, removed, omitted } = diff;
  return (
    <figure class="diff" aria-label={`Change of ${proseText(path)}`}>
      <figcaption>
        <span class="diff-path">{proseText(path)}</span>
        <DiffCount added={added} removed={removed} />
      </figcaption>
      <div class="diff-rows" dir="ltr" {...scrollable}>
        <div class="diff-inner">{rows.map(rowNode)}</div>
      </div>
      {omitted > 0 && <p class="diff-omitted">{omitted} more lines are not shown.</p>}
    </figure>
  );
}

/** `+3 −1`, and in words for a screen reader. */
export function DiffCount({ added, removed }: { readonly added: number; readonly removed: number }) {
  return (
    <span class="diff-count">
      <span class="unseen">
        {added} lines added, {removed} removed
      </span>
      <span class="plus" aria-hidden="true">
        +{added}
      </span>{" "}
      <span class="minus" aria-hidden="true">
        −{removed}
      </span>
    </span>
  );
}

function rowNode(row: DiffRow, index: number) {
  const text = row.text.length > maxDiffLineChars ? `${row.text.slice(0, maxDiffLineChars)}…` : row.text;
  return (
    <div key={index} class={`diff-row ${row.kind}`}>
      <span class="diff-number" aria-hidden="true">
        {row.new ?? row.old ?? ""}
      </span>
      <span class="diff-sign" aria-hidden="true">
        {signs[row.kind]}
      </span>
      <span class="unseen">{words[row.kind]}</span>
      <code>{proseText(text) || " "}</code>
    </div>
  );
}
