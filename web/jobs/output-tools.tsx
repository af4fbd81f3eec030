import { Button, IconButton } from "../ui/button.tsx";
import { Menu } from "../ui/menu.tsx";

interface OutputToolsProps {
  readonly search: string;
  readonly onSearch: (text: string) => void;
  readonly count: number;
  /** Which of those found is shown, from 1; null: none. */
  readonly at: number | null;
  readonly onStep: (step: 1 | -1) => void;
  readonly isFollowing: boolean;
  readonly onFollow: () => void;
  readonly wraps: boolean;
  readonly onWraps: (wraps: boolean) => void;
}

/** Above the output: finding words, going on with its end, long lines. */
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
      {!props.isFollowing && (
        <Button icon="down" onClick={props.onFollow}>
          Follow
        </Button>
      )}
      <Menu
        label="How lines are shown"
        items={[{ label: "Wrap long lines", isChosen: props.wraps, run: () => props.onWraps(!props.wraps) }]}
      />
    </search>
  );
}
