import type { AgentEvent } from "../../protocol/events.ts";

/** Whether an agent works on something that was asked of it here, or that anybody asked. */
export interface Busy {
  readonly isBusy: boolean;
  /** A prompt is on its way; the returned function says how that ended: the turn that it got, or null. */
  sending(): (turn: string | null) => void;
  hear(event: AgentEvent): void;
  /** What a fresh snapshot says: the turn that runs, or null. */
  reset(turn: string | null): void;
}

/** Turns begin and end before or after the reply that names them, so both are remembered for a while. */
export function createBusy(running: string | null): Busy {
  let current = running;
  let inFlight = 0;
  const awaited = new Set<string>();
  const finished = new Set<string>();
  return {
    get isBusy() {
      return inFlight > 0 || awaited.size > 0 || current !== null;
    },
    sending() {
      inFlight += 1;
      return (turn) => {
        inFlight -= 1;
        if (turn !== null && !finished.has(turn)) awaited.add(turn);
        if (inFlight === 0) finished.clear();
      };
    },
    hear(event) {
      if (event.type === "turn_started") current = event.turn;
      if (event.type !== "turn_finished") return;
      if (current === event.turn) current = null;
      if (!awaited.delete(event.turn) && inFlight > 0) finished.add(event.turn);
    },
    reset(turn) {
      current = turn;
      awaited.clear();
      finished.clear();
    },
  };
}
