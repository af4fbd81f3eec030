import type { ComponentChildren } from "preact";
import { IconButton } from "../ui/button.tsx";
import { Menu } from "../ui/menu.tsx";

interface OutputToolsProps {
  readonly search: string;
  readonly onSearch: (text: string) => void;
  readonly count: number;
  /** Which of those found is shown, from 1; null: none. */
  readonly at: number | null;
  readonly onStep: (step: 1 | -1) => void;
  readonly wraps: boolean;
  readonly onWraps: (wraps: boolean) => void;
  readonly onWholeCommand: () => void;
  readonly children: ComponentChildren;
}

/** Above the output: finding words, what can be done to the job, long lines. */
export function OutputTools(props: OutputToolsProps) {
  const { search, count, at } = props;
  return (
    <search class="output-tools">
      <input
        type="text"
        inputMode="search"
        enterkeyhint="search"
        aria-label="Find in the output"
        placeholder="Find"
        autocapitalize="off"
        spellcheck={false}
        value={search}
        onInput={(event) => props.onSearch(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault();
          props.onStep(event.shiftKey ? -1 : 1);
        }}
      />
      {search !== "" && (
        <>
          <span role="status" class="quiet-text">
            {count === 0 ? "none" : at === null ? `${count}` : `${at} of ${count}`}
          </span>
          <IconButton
            icon="up"
            label="The one before"
            disabled={count === 0}
            onClick={() => props.onStep(-1)}
          />
          <IconButton
            icon="down"
            label="The next one"
            disabled={count === 0}
            onClick={() => props.onStep(1)}
          />
        </>
      )}
      {props.children}
      <Menu
        label="More about this job"
        items={[
          { label: "Wrap long lines", isChosen: props.wraps, run: () => props.onWraps(!props.wraps) },
          { label: "The whole command", icon: "jobs", run: props.onWholeCommand },
        ]}
      />
    </search>
  );
}
