import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { Change, Snapshot } from "../../src/protocol/changes.ts";
import type {
  Agent,
  Job,
  PermissionRequest,
  Question,
  Remote,
  TabWithAgents,
  Workspace,
  WorkspaceRow,
} from "../../src/protocol/objects.ts";
import type { Scope } from "../../src/protocol/scopes.ts";

/** How a request ended that is no longer open. */
export interface Outcome {
  readonly allowed: boolean;
  /** Who answered; null: nobody, its turn ended. */
  readonly by: string | null;
  readonly atMs: number;
}

/**
 * The daemon's state as signals. Each holds the same object as long as nothing in it changed, so that a view that reads
 * one is drawn again only for news of its own. All are set together, once a frame at most.
 */
export interface Store {
  /** Null before the first connection. */
  readonly snapshot: ReadonlySignal<Snapshot | null>;
  readonly workspaces: ReadonlySignal<readonly WorkspaceRow[]>;
  /** The one of this connection; the others are named in `workspaces` only. */
  readonly workspace: ReadonlySignal<Workspace | null>;
  readonly tabs: ReadonlySignal<readonly TabWithAgents[]>;
  /** Of all tabs of the workspace, subagents too. */
  readonly agents: ReadonlySignal<ReadonlyMap<string, Agent>>;
  readonly pending: ReadonlySignal<readonly PermissionRequest[]>;
  readonly questions: ReadonlySignal<readonly Question[]>;
  /** How many requests and questions wait for a person. */
  readonly waiting: ReadonlySignal<number>;
  /** How the newest requests and questions ended, by `request_id`. */
  readonly outcomes: ReadonlySignal<ReadonlyMap<string, Outcome>>;
  readonly jobs: ReadonlySignal<readonly Job[]>;
  readonly remote: ReadonlySignal<Remote | null>;
  readonly scopes: ReadonlySignal<ReadonlySet<Scope>>;
}

export interface WritableStore extends Store {
  /** Takes over `state`, now. */
  take(state: Snapshot): void;
  /** Takes over what `read` returns, with the next frame. */
  takeSoon(read: () => Snapshot | null): void;
  noteOutcome(change: Change): void;
}

const maxOutcomes = 100;
/** Frames stop while the page is hidden; the title and the badge must not. */
const hiddenFrameMs = 250;

export function createStore(): WritableStore {
  const snapshot = signal<Snapshot | null>(null);
  const outcomes: Signal<ReadonlyMap<string, Outcome>> = signal(new Map());
  const part = <T>(read: (state: Snapshot) => T, none: T): ReadonlySignal<T> =>
    computed(() => (snapshot.value === null ? none : read(snapshot.value)));
  const tabs = part<readonly TabWithAgents[]>((state) => state.workspace.tabs, []);
  const pending = part<readonly PermissionRequest[]>((state) => state.pending, []);
  const questions = part<readonly Question[]>((state) => state.questions, []);
  const scopeList = part<readonly Scope[]>((state) => state.daemon.principal.scopes, []);
  let isDue = false;

  return {
    snapshot,
    workspaces: part<readonly WorkspaceRow[]>((state) => state.workspaces, []),
    workspace: part<Workspace | null>((state) => state.workspace, null),
    tabs,
    agents: computed(
      () => new Map(tabs.value.flatMap((tab) => tab.agents.map((agent) => [agent.id, agent]))),
    ),
    pending,
    questions,
    waiting: computed(() => pending.value.length + questions.value.length),
    outcomes,
    jobs: part<readonly Job[]>((state) => state.jobs, []),
    remote: part<Remote | null>((state) => state.remote, null),
    scopes: computed(() => new Set(scopeList.value)),
    take(state) {
      batch(() => {
        snapshot.value = state;
      });
    },
    takeSoon(read) {
      if (isDue) return;
      isDue = true;
      const take = (): void => {
        isDue = false;
        const state = read();
        if (state !== null) snapshot.value = state;
      };
      if (document.visibilityState === "visible") requestAnimationFrame(take);
      else setTimeout(take, hiddenFrameMs);
    },
    noteOutcome(change) {
      if (change.type !== "event") return;
      const { event } = change;
      if (event.type !== "permission_resolved" && event.type !== "question_resolved") return;
      const allowed = event.type === "permission_resolved" ? event.allowed : !event.cancelled;
      const outcome: Outcome = { allowed, by: event.by?.name ?? null, atMs: Date.now() };
      outcomes.value = new Map([...outcomes.value, [event.request_id, outcome] as const].slice(-maxOutcomes));
    },
  };
}
