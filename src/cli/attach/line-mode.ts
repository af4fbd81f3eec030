import type { Client, ClientStatus } from "../../client/client.ts";
import type { Rest } from "../../client/rest.ts";
import { newId } from "../../lib/ids.ts";
import type { Change, Snapshot } from "../../protocol/changes.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import type { Agent, TabWithAgents } from "../../protocol/objects.ts";
import type { AnswerDesk } from "../answer-desk.ts";
import { CliError, exitCodes } from "../cli-error.ts";
import type { Call } from "../command.ts";
import { createFamily, type Family } from "../family.ts";
import { createMailbox } from "../mailbox.ts";
import { showRequests } from "../send-answers.ts";
import { namedId } from "../session.ts";
import { inline } from "../text.ts";
import { createTurnText } from "../turn-text.ts";
import { type Busy, createBusy } from "./busy.ts";
import { type Line, parseLine } from "./parse-line.ts";
import { readTranscript, showPage, userText } from "./show-history.ts";
import { runSlash } from "./slash.ts";

const historyRecords = 30;

export interface LineModeOptions {
  readonly call: Call;
  readonly client: Client;
  readonly rest: Pick<Rest, "body">;
  readonly desk: AnswerDesk;
  readonly tab: string;
  /** Null: the first prompt makes a new one. */
  readonly agent: string | null;
  /** Lines are not typed but piped in: each waits for what came before it. */
  readonly isPiped: boolean;
  /** Around everything that is written while somebody may be typing. */
  readonly screen: { readonly hide: () => void; readonly show: () => void };
}

/** What the person did; `look`: something that lines may wait for has changed. */
export type Act = { readonly line: string } | { readonly act: "end" | "interrupt" | "leave" | "look" };

export interface LineMode {
  act(act: Act): void;
  /** How many lines wait for their turn. */
  readonly waitingLines: number;
  /** Runs until the person leaves; yields the exit code. */
  run(): Promise<number>;
}

type News =
  | Act
  | { readonly change: Change }
  | { readonly whole: Snapshot }
  | { readonly status: ClientStatus };

export function createLineMode(options: LineModeOptions): LineMode {
  const { call, client, rest, desk, isPiped, screen } = options;
  const { out } = call;
  const news = createMailbox<News>();
  const text = createTurnText(call.io, out);
  const lines: string[] = [];
  const ownRequests = new Set<string>();
  let ownTurn: string | null = null;
  let { tab, agent } = options;
  let family: Family | null = null;
  let busy: Busy = createBusy(null);
  let shownSeq = 0;
  let hasEnded = false;
  let wasLost = false;
  let exitCode: number = exitCodes.done;
  let interrupts = 0;

  const note = async (line: string): Promise<void> => {
    if (!call.json) await text.end();
    await out.note(line);
  };
  const state = (): Snapshot => {
    if (client.state === null) throw new TypeError("the client has no state yet");
    return client.state;
  };
  const tabRow = (): TabWithAgents | undefined => state().workspace.tabs.find(({ id }) => id === tab);
  const agentRow = (): Agent | undefined => tabRow()?.agents.find(({ id }) => id === agent);

  /** Goes to an agent: shows what was said last, what runs and what waits. */
  async function goTo(next: string): Promise<void> {
    agent = next;
    family = createFamily(next, state());
    busy = createBusy(agentRow()?.turn ?? null);
    shownSeq = 0;
    const page = await readTranscript(rest, next, { limit: historyRecords });
    shownSeq = page.seq;
    if (!call.json) await showPage(page, text, note);
    await askWaiting();
  }

  async function askWaiting(): Promise<void> {
    const { pending, questions } = state();
    for (const request of [...pending, ...questions]) if (family?.has(request.agent)) await desk.ask(request);
  }

  async function hear(change: Change): Promise<void> {
    family?.hear(change);
    if (change.type === "notice") await note(`sallyport: ${inline(change.message)}`);
    if (change.type === "shutdown")
      await note(`sallyport: the daemon ${change.restart ? "starts again" : "stops"}.`);
    if (change.type !== "event") return;
    const { event } = change;
    if (!family?.has(event.agent)) return;
    if (event.agent === agent && event.seq > shownSeq) {
      busy.hear(event);
      await show(event);
    }
    await showRequests(desk, event);
  }

  async function show(event: AgentEvent): Promise<void> {
    if (call.json) {
      await out.json(event);
    } else if (event.type === "user_message") {
      if (event.turn !== ownTurn || isPiped) await note(userText(event));
    } else await text.show(event);
    if (
      event.type === "turn_started" &&
      event.request_id !== undefined &&
      ownRequests.delete(event.request_id)
    )
      ownTurn = event.turn;
    if (event.type !== "turn_finished") return;
    if (!call.json) await text.end();
    interrupts = 0;
    if (event.outcome === "done") return;
    await note(
      `sallyport: the turn ${event.outcome === "cancelled" ? "was cancelled" : "failed"}${event.error === undefined ? "" : ` (${inline(event.error)})`}.`,
    );
    exitCode = exitCodes.failed;
  }

  /** Changes were missed that nobody can tell any more: what is known now counts. */
  async function takeWhole(): Promise<void> {
    if (agent === null) return;
    await note("sallyport: some of the output came while there was no connection and is not shown.");
    family = createFamily(agent, state());
    busy.reset(agentRow()?.turn ?? null);
    await askWaiting();
  }

  async function takeStatus(status: ClientStatus): Promise<void> {
    if (status.phase === "waiting" && !wasLost) {
      wasLost = true;
      await note(`sallyport: ${inline(status.message)} Coming back by itself; what you type is kept.`);
    } else if (status.phase === "live" && wasLost) {
      wasLost = false;
      await note("sallyport: connected again.");
    } else if (status.phase === "stopped" && status.reason !== "closed")
      throw new CliError(
        exitCodes.notAllowed,
        status.reason === "revoked" ? "unauthorized" : "remote_off",
        status.message,
      );
  }

  /** True when a piped line must wait for what came before it. */
  function mustWait(line: Line): boolean {
    if (!isPiped) return false;
    if (line.do === "cancel" || line.do === "nothing" || !busy.isBusy) return false;
    if (line.do === "decide" || line.do === "answer") return !desk.isAsking;
    return !(line.do === "prompt" && desk.isQuestion);
  }

  function parsed(line: string): Line {
    const commands = tabRow()?.project?.commands ?? [];
    return parseLine(line, (word) => word === "context" || commands.some(({ name }) => name === word));
  }

  /** Does the lines that need not wait; true when the person wants to leave. */
  async function doLines(): Promise<boolean> {
    for (let first = lines[0]; first !== undefined; first = lines[0]) {
      const line = parsed(first);
      if (mustWait(line)) return false;
      lines.shift();
      if (line.do === "quit") return true;
      await doLine(line).catch(async (error: unknown) => {
        exitCode = exitCodes.failed;
        await note(`sallyport: ${inline(error instanceof Error ? error.message : String(error))}`);
      });
    }
    return hasEnded && !busy.isBusy;
  }

  async function doLine(line: Line): Promise<void> {
    switch (line.do) {
      case "prompt":
        if (!desk.line(line.text)) await sendPrompt(line.text);
        return;
      case "decide":
        if (!desk.decide(line.decision)) await note("Nothing waits for an approval.");
        return;
      case "answer":
        if (!desk.line(line.text)) await note("Nothing waits for an answer.");
        return;
      case "new":
        agent = null;
        family = null;
        busy = createBusy(null);
        await note("The next prompt begins a new agent.");
        return;
      case "cancel":
        if (agent !== null) await client.command({ type: "cancel", agent });
        return;
      default: {
        const next = await runSlash(line, { client, out, note, tab: tabRow() ?? null, agent });
        if (next !== null) await goTo(next);
      }
    }
  }

  async function sendPrompt(words: string): Promise<void> {
    if (agent === null) {
      const made = namedId((await client.command({ type: "agent_start", tab })).agent);
      if (made === null) throw new Error("The daemon made an agent but did not name it.");
      await goTo(made);
    }
    const to = agent ?? "";
    const isQueued = busy.isBusy;
    const done = busy.sending();
    const request_id = newId();
    ownRequests.add(request_id);
    // Not awaited: what the prompt causes is shown meanwhile.
    client
      .prompt({ agent: to, text: words, request_id, ...(isQueued ? { queue: true } : {}) })
      .then(
        ({ turn }) => done(turn === "" ? null : turn),
        (error: Error) => {
          done(null);
          ownRequests.delete(request_id);
          exitCode = exitCodes.failed;
          return note(`sallyport: ${inline(error.message)}`);
        },
      )
      .finally(() => news.put({ act: "look" }));
    if (isQueued && !isPiped) await note("  (it comes next)");
  }

  /** First: the turn is cancelled. Again, or where nothing runs: we leave, and the agent goes on. */
  async function interrupt(): Promise<boolean> {
    interrupts += 1;
    if (agent === null || !busy.isBusy || interrupts > 1) {
      exitCode = exitCodes.interrupted;
      return true;
    }
    await client
      .command({ type: "cancel", agent })
      .catch((error: Error) => note(`sallyport: ${inline(error.message)}`));
    return false;
  }

  /** True when it is time to leave. */
  async function take(item: News): Promise<boolean> {
    if ("change" in item) await hear(item.change);
    else if ("whole" in item) await takeWhole();
    else if ("status" in item) await takeStatus(item.status);
    else if ("line" in item) lines.push(item.line);
    else if (item.act === "end") hasEnded = true;
    else if (item.act === "look") return doLines();
    else if (item.act === "interrupt") {
      if (await interrupt()) return true;
    } else {
      exitCode = exitCodes.interrupted;
      return true;
    }
    return doLines();
  }

  return {
    act: news.put,
    get waitingLines() {
      return lines.length;
    },
    async run() {
      const stops = [
        client.onChange((change) => news.put({ change })),
        client.onSnapshot((whole) => news.put({ whole })),
        client.onStatus((status) => news.put({ status })),
      ];
      try {
        if (agent !== null) await goTo(agent);
        for (;;) {
          if (!busy.isBusy && !desk.isAsking) screen.show();
          const item = await news.take();
          screen.hide();
          if (await take(item)) break;
        }
        if (!call.json) await text.end();
        // What failed in a conversation was seen; what was piped in has nobody who saw.
        return isPiped || exitCode === exitCodes.interrupted ? exitCode : exitCodes.done;
      } finally {
        for (const stop of stops) stop();
      }
    },
  };
}
