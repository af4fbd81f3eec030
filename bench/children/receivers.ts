import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { machineMicros, milestoneEvents } from "../harness/broadcast.ts";
import { answerCalls } from "../harness/child.ts";
import { RawClient } from "../harness/raw-client.ts";

interface Group {
  readonly clients: RawClient[];
  readonly control: Socket | null;
  /** Frames since it was armed, by client. */
  counts: Uint32Array;
  /** Clients that have passed each milestone. */
  passed: Uint32Array;
  wanted: number;
  ready: number;
  /** When each client had each frame, where that is asked for. */
  times: Float64Array | null;
  finished: (() => void) | null;
  done: Promise<void>;
  closed: number;
  lastClosedMicros: number;
  allClosed: (() => void) | null;
}

const groups = new Map<string, Group>();
const parallelHandshakes = 16;

function group(name: string): Group {
  const found = groups.get(name);
  if (!found) throw new TypeError(`no clients of ${name}`);
  return found;
}

const calls = {
  /** Opens `count` sockets; each sends one of the `greetings`, in turn. `controlPort` is where milestones are reported. */
  async connect(options: {
    readonly name: string;
    readonly port: number;
    readonly path: string;
    readonly token: string | null;
    readonly count: number;
    readonly controlPort: number | null;
    readonly greetings?: readonly string[];
  }): Promise<void> {
    const control =
      options.controlPort === null ? null : connect({ port: options.controlPort, host: "127.0.0.1" });
    if (control) await once(control, "connect");
    const made: Group = {
      clients: [],
      control,
      counts: new Uint32Array(options.count),
      passed: new Uint32Array(0),
      wanted: 0,
      ready: 0,
      times: null,
      finished: null,
      done: Promise.resolve(),
      closed: 0,
      lastClosedMicros: 0,
      allClosed: null,
    };
    groups.set(options.name, made);
    let next = 0;
    const open = async (): Promise<void> => {
      while (next < options.count) {
        const index = next++;
        const client = new RawClient(options.port, {
          onFrame: () => onFrame(made, index),
          onClosed: () => onClosed(made),
        });
        made.clients.push(client);
        await client.upgrade(options.path, options.token);
        const greeting = options.greetings?.[index % options.greetings.length];
        if (greeting !== undefined) client.sendText(greeting);
      }
    };
    await Promise.all(Array.from({ length: parallelHandshakes }, open));
  },
  /** Frames are counted from now on. */
  arm({ name, events, timed }: { readonly name: string; readonly events: number; readonly timed: boolean }) {
    const armed = group(name);
    armed.counts.fill(0);
    armed.passed = new Uint32Array(Math.floor(events / milestoneEvents) + 1);
    armed.ready = 0;
    armed.wanted = events;
    armed.times = timed ? new Float64Array(events * armed.clients.length) : null;
    armed.done = new Promise((resolve) => {
      armed.finished = resolve;
    });
  },
  /** Answers when all have all. */
  async finished({ name }: { readonly name: string }): Promise<void> {
    await group(name).done;
  },
  /** Of the timed frames: microseconds between `sentMicros` (by event) and each client's receipt. */
  delays({ name, sentMicros }: { readonly name: string; readonly sentMicros: readonly number[] }): number[] {
    const { times, wanted } = group(name);
    return [...(times ?? [])].map((time, at) => time - (sentMicros[at % wanted] ?? Number.NaN));
  },
  /** Answers when all have been closed: when the last one was, and the close codes with their numbers. */
  async closed({ name }: { readonly name: string }) {
    const closing = group(name);
    if (closing.closed < closing.clients.length)
      await new Promise<void>((resolve) => {
        closing.allClosed = resolve;
      });
    const codes: Record<string, number> = {};
    for (const { closeCode } of closing.clients)
      codes[String(closeCode)] = (codes[String(closeCode)] ?? 0) + 1;
    return { lastClosedMicros: closing.lastClosedMicros, codes };
  },
  disconnect({ name }: { readonly name: string }): void {
    const leaving = group(name);
    groups.delete(name);
    for (const client of leaving.clients) client.socket.destroy();
    leaving.control?.destroy();
  },
};
export type ReceiverCalls = typeof calls;

function onFrame(of: Group, index: number): void {
  const count = (of.counts[index] ?? 0) + 1;
  of.counts[index] = count;
  if (count > of.wanted) return;
  if (of.times) of.times[index * of.wanted + count - 1] = machineMicros();
  if (count % milestoneEvents === 0) {
    const milestone = count / milestoneEvents;
    const passed = (of.passed[milestone] ?? 0) + 1;
    of.passed[milestone] = passed;
    if (passed === of.clients.length) of.control?.write(".");
  }
  if (count !== of.wanted) return;
  of.ready += 1;
  if (of.ready === of.clients.length) of.finished?.();
}

function onClosed(of: Group): void {
  of.closed += 1;
  of.lastClosedMicros = machineMicros();
  if (of.closed === of.clients.length) of.allClosed?.();
}

answerCalls(calls);
