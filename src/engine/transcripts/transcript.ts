import { join } from "node:path";
import { type Jsonl, openJsonl } from "../../lib/jsonl.ts";
import type { ChangeBody } from "../../protocol/changes.ts";
import type { AgentEvent, AgentEventBody } from "../../protocol/events.ts";
import { orRefuse } from "../disk-refusal.ts";
import { engineLimits } from "../engine-limits.ts";
import type { Announcer, Slot } from "./announcer.ts";

export interface RecordOptions {
  /** Resolve only when the records are on the disk. */
  readonly sync?: boolean;
  /** The commit point: called in the moment before the bytes are written; what it throws refuses the records. */
  readonly beforeWrite?: () => void;
  /** Called when the first of the records is about to be announced, in the same step. */
  readonly onAnnounce?: () => void;
  /**
   * For what has happened whatever the disk says (the end of a turn): when the disk refuses, it is announced all the
   * same and written before the next record.
   */
  readonly owe?: boolean;
  /** Told why the disk refused records that are owed now. */
  readonly onOwed?: (error: unknown) => void;
}

/** Writes the records of one agent and announces them, each written before it is announced. */
export interface Transcript {
  /** All or nothing. Throws `disk_full`, or what `beforeWrite` throws; then nothing was announced. */
  record(bodies: readonly AgentEventBody[], options?: RecordOptions): Promise<void>;
  /** Announces what is live only. */
  delta(body: AgentEventBody): void;
  /** Gives the file handle back; the next record opens the file again. */
  release(): Promise<void>;
}

export interface TranscriptOptions {
  readonly sessionsFolder: string;
  readonly agent: string;
  readonly announcer: Announcer;
  readonly now: () => number;
  /** Where the agent is now; nulls when it is on no tab any more. */
  readonly where: () => { readonly workspace: string | null; readonly tab: string | null };
  readonly append: (change: ChangeBody) => void;
  /** Called with each event in the moment it is announced. */
  readonly onEvent: (body: AgentEventBody) => void;
}

/** Path of an agent's transcript. The id was checked: nothing else than a UUID reaches a path. */
export function transcriptPath(sessionsFolder: string, agent: string): string {
  return join(sessionsFolder, `${agent}.jsonl`);
}

/** Opens the file with the first record and not before: an agent that never said anything has none. */
export function createTranscript(options: TranscriptOptions): Transcript {
  const { announcer } = options;
  let opened: Promise<Jsonl> | null = null;
  let closing: Promise<void> = Promise.resolve();
  let owed: AgentEvent[] = [];
  let deltaBytes = 0;

  function file(): Promise<Jsonl> {
    const opening =
      opened ??
      closing.then(() =>
        openJsonl({
          path: transcriptPath(options.sessionsFolder, options.agent),
          maxLineBytes: engineLimits.transcriptLineBytes,
        }),
      );
    opened = opening;
    opening.catch(() => {
      // Whoever waits for the file handles the failure; the next record tries again.
      if (opened === opening) opened = null;
    });
    return opening;
  }

  function announce(event: AgentEvent): void {
    const { workspace, tab } = options.where();
    options.onEvent(event);
    options.append({ type: "event", workspace, tab, event });
  }

  function toEvent(slot: Slot, body: AgentEventBody): AgentEvent {
    return { agent: options.agent, seq: slot.seq, at: new Date(options.now()).toISOString(), ...body };
  }

  async function write(events: readonly AgentEvent[], recordOptions: RecordOptions): Promise<void> {
    const jsonl = await file();
    const debts = owed;
    owed = [];
    try {
      await jsonl.append([...debts, ...events], {
        sync: recordOptions.sync ?? false,
        ...(recordOptions.beforeWrite ? { beforeWrite: recordOptions.beforeWrite } : {}),
      });
    } catch (error) {
      owed = [...debts, ...owed];
      throw error;
    }
  }

  return {
    async record(bodies, recordOptions = {}) {
      const placed = bodies.map((body) => {
        const slot = announcer.take();
        return { slot, event: toEvent(slot, body) };
      });
      const events = placed.map(({ event }) => event);
      try {
        await orRefuse(write(events, recordOptions));
      } catch (error) {
        if (!recordOptions.owe) {
          for (const { slot } of placed) slot.drop();
          throw error;
        }
        owed = [...owed, ...events];
        recordOptions.onOwed?.(error);
      }
      let announced: Promise<void> = Promise.resolve();
      for (const [index, { slot, event }] of placed.entries()) {
        announced = new Promise((resolve) => {
          slot.announce(() => {
            if (index === 0) recordOptions.onAnnounce?.();
            announce(event);
            resolve();
          });
        });
      }
      await announced;
    },
    delta(body) {
      const size = "text" in body && typeof body.text === "string" ? body.text.length : 0;
      if (deltaBytes + size > engineLimits.announceBacklogBytes) return;
      deltaBytes += size;
      const slot = announcer.take();
      const event = toEvent(slot, body);
      slot.announce(() => {
        deltaBytes -= size;
        announce(event);
      });
    },
    async release() {
      const current = opened;
      if (!current) return closing;
      opened = null;
      closing = current
        .then((jsonl) => jsonl.close())
        // Opening failed and was reported to the record that wanted it, or closing did, after all was written.
        .catch(() => undefined);
      return closing;
    },
  };
}
