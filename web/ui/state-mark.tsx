import type { AgentState, JobState } from "../../src/protocol/objects.ts";
import { classes } from "./classes.ts";
import "./state-mark.css";

type AnyState = AgentState | JobState | "off" | "starting" | "up";

const words: Readonly<Record<AnyState, string>> = {
  idle: "Idle",
  running: "Running",
  waiting: "Waits for you",
  closed: "Closed",
  exited: "Ended",
  killed: "Stopped",
  failed: "Failed",
  lost: "Lost",
  off: "Off",
  starting: "Starting",
  up: "Up",
};

interface StateMarkProps {
  readonly state: AnyState;
  /** Other words than the usual ones. */
  readonly word?: string;
  /** Only a screen reader hears the word: where the same word stands beside it. */
  readonly isBare?: boolean;
}

/** A state by shape, word and colour: a ring rests, a turning arc works, a filled diamond waits for you, a cross failed. */
export function StateMark({ state, word, isBare = false }: StateMarkProps) {
  return (
    <span class={classes("state-mark", state)}>
      <svg viewBox="0 0 16 16" aria-hidden="true" focusable="false">
        <Shape state={state} />
      </svg>
      <span class={isBare ? "unseen" : undefined}>{word ?? words[state]}</span>
    </span>
  );
}

function Shape({ state }: { readonly state: AnyState }) {
  switch (state) {
    case "running":
    case "starting":
      return <path class="arc" d="M8 2.5a5.5 5.5 0 1 1-5.5 5.5" />;
    case "waiting":
      return <path class="full" d="M8 1.5L14.5 8 8 14.5 1.5 8z" />;
    case "failed":
    case "lost":
      return <path d="M3.5 3.5l9 9M12.5 3.5l-9 9" />;
    case "exited":
    case "up":
      return <path d="M2.5 8.5l3.5 3.5 7.5-8" />;
    case "killed":
      return <path class="full" d="M4 4h8v8H4z" />;
    case "closed":
    case "off":
      return <path d="M3.5 8h9" />;
    default:
      return <circle cx="8" cy="8" r="5" />;
  }
}
