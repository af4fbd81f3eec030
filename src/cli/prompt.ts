import { AnswerError, UnreachableError } from "../client/answer-error.ts";
import type { Broadcast, Connection } from "../client/connection.ts";
import { newId } from "../lib/ids.ts";
import type { AgentEvent } from "../protocol/events.ts";
import { type AnswerDesk, openAnswerDesk, untilTypedAheadIsRead } from "./answer-desk.ts";
import { exitCodes, usageError } from "./cli-error.ts";
import { type Call, type CommandSpec, isOn, textOption } from "./command.ts";
import { createFamily } from "./family.ts";
import { createMailbox } from "./mailbox.ts";
import { choosesAgent, newAgentOptions, startChosen } from "./new-agent.ts";
import { sendAnswers, showRequests } from "./send-answers.ts";
import { namedId, openSession, type Session, tabOption } from "./session.ts";
import { inline } from "./text.ts";
import { createTurnText } from "./turn-text.ts";

const maxLabelChars = 100;

export const promptCommand: CommandSpec = {
  usage: "prompt <text...>",
  about:
    "Prompt an agent and show its turn; 0 when the turn is done. Approvals are asked for here if this is a terminal. Ctrl-C cancels the turn (130), a second one leaves it running.",
  examples: [
    'sallyport prompt "cargo test"',
    'sallyport prompt --tab . --json "git status"',
    'sallyport prompt --tab . --runtime qwen "fix the tests"',
  ],
  anywhere: true,
  options: [
    { flags: "--agent <id>", about: "an agent to go on with; without it a new one" },
    { flags: "--tab <dir>", about: "the folder of the new agent; without it the daemon's active tab" },
    ...newAgentOptions,
    { flags: "--queue", about: "if the agent is busy, reserve its next turn" },
    { flags: "--json", about: "print one event a line" },
  ],
  async run(call) {
    const text = call.words.join(" ");
    if (text.trim() === "") throw usageError('The prompt is empty. As in: sallyport prompt "ls -l"');
    if (textOption(call, "agent") !== null && textOption(call, "tab") !== null)
      throw usageError("--agent has a tab already. Give --agent or --tab, not both.");
    const isChosen = choosesAgent(call);
    const session = await openSession(call);
    try {
      return await runTurn(call, session, { text, isChosen });
    } finally {
      session.connection.close();
    }
  },
};

interface Wanted {
  readonly text: string;
  /** What runs the new agent was chosen. */
  readonly isChosen: boolean;
}

async function runTurn(call: Call, session: Session, { text, isChosen }: Wanted): Promise<number> {
  const { connection, target } = session;
  // What the prompt causes may arrive before its reply, so everything is kept from here on.
  const mailbox = createMailbox<Broadcast | null>();
  connection.onBroadcast(mailbox.put);
  connection.closed.then(() => mailbox.put(null));

  const tab = await tabOption(call, connection);
  const label = text.slice(0, maxLabelChars);
  // Without either the daemon makes an agent.
  const named = isChosen ? await startChosen(call, connection, { tab, label }) : textOption(call, "agent");
  const ack = await connection.command({
    type: "prompt",
    text,
    request_id: newId(),
    ...(named === null ? {} : { agent: named }),
    ...(tab === null || named !== null ? {} : { tab }),
    ...(isOn(call, "queue") ? { queue: true } : {}),
  });
  const agent = namedId(ack.agent);
  const turn = namedId(ack.turn);
  if (agent === null || turn === null) throw new UnreachableError("The daemon did not name the turn.");

  const interrupts = handleInterrupts(call, connection, agent);
  const desk = openAnswerDesk({
    out: call.out,
    hasKeyboard: call.io.keyboard !== null,
    elsewhere: `Nobody can type one here: answer on a paired device, at ${target.url}, or in a terminal: sallyport attach --agent ${agent}. Ctrl-C cancels the turn.`,
    echo: (text) => void call.io.stderr.write(text).catch(() => undefined), // An echo that is not seen changes nothing.
    ...sendAnswers(connection, (message) => void call.out.note(`  ${inline(message)}`)),
  });
  const stopKeys = call.io.keyboard?.listen((key) => {
    if (key === "\u0003") interrupts.interrupt();
    else desk.key(key);
  });
  // What was typed before the program read keys is waiting in the terminal: it is read, and lost, before anything is asked.
  if (stopKeys) await untilTypedAheadIsRead();
  try {
    const watched = watchTurn(call, session, { agent, turn, mailbox, desk });
    const outcome = await Promise.race([watched, interrupts.left]);
    if (outcome === "left") return exitCodes.interrupted;
    if (outcome === "done") return exitCodes.done;
    await call.out.note(`sallyport: the turn ${outcome === "cancelled" ? "was cancelled" : "failed"}.`);
    return interrupts.asked() ? exitCodes.interrupted : exitCodes.failed;
  } finally {
    stopKeys?.();
    interrupts.stop();
  }
}

type Outcome = "done" | "cancelled" | "failed";

interface Watched {
  readonly agent: string;
  readonly turn: string;
  readonly mailbox: { take(): Promise<Broadcast | null> };
  readonly desk: AnswerDesk;
}

async function watchTurn(call: Call, session: Session, watched: Watched): Promise<Outcome> {
  const { agent, turn, mailbox, desk } = watched;
  const text = createTurnText(call.io, call.out);
  const family = createFamily(agent, session.connection.snapshot);
  let begun = false;
  for (;;) {
    const message = await mailbox.take();
    if (message === null) throw new UnreachableError("The daemon went away before the turn ended.");
    if (message.type === "lagged") {
      const ended = await catchUp(session, watched);
      if (ended !== null) return ended;
      await call.out.note("sallyport: some of the output came too fast and is not shown.");
      continue;
    }
    if (message.type === "agent_updated") family.hear(message);
    if (message.type !== "event") continue;
    const { event } = message;
    family.hear(message);
    if (!family.has(event.agent)) continue;
    if (begun) await showRequests(desk, event);
    if (event.agent !== agent) continue;
    // A reserved turn: what comes before it belongs to another prompt.
    if (event.type === "turn_started") begun = event.turn === turn;
    if (!begun) continue;
    if (call.json) await call.out.json(event);
    else await text.show(event);
    if (event.type === "turn_finished" && event.turn === turn) {
      if (!call.json) await text.end();
      if (event.error !== undefined) await call.out.note(`sallyport: ${inline(event.error)}`);
      return event.outcome;
    }
  }
}

/** After a gap: how the turn ended, if it did; else what is open is asked for again. */
async function catchUp(session: Session, watched: Watched): Promise<Outcome | null> {
  const page = await session.target.rest.body<{ records: readonly AgentEvent[] }>(
    "GET",
    `/api/sessions/${encodeURIComponent(watched.agent)}`,
  );
  for (const record of page.records)
    if (record.type === "turn_finished" && record.turn === watched.turn) return record.outcome;
  const snapshot = await session.connection.command({ type: "snapshot" });
  if ("changes" in snapshot) return null;
  const family = createFamily(watched.agent, snapshot);
  for (const request of [...snapshot.pending, ...snapshot.questions])
    if (family.has(request.agent)) await watched.desk.ask(request);
  return null;
}

interface Interrupts {
  readonly left: Promise<"left">;
  readonly interrupt: () => void;
  asked(): boolean;
  stop(): void;
}

/** First Ctrl-C: the turn is cancelled. Second, or the terminal goes away: we leave, and the turn goes on. */
function handleInterrupts(call: Call, connection: Connection, agent: string): Interrupts {
  let asked = false;
  let leave: (value: "left") => void = () => undefined;
  const left = new Promise<"left">((resolve) => {
    leave = resolve;
  });
  const goAway = (): void => {
    call.out
      .note(`sallyport: the turn goes on. Go back to its agent: sallyport prompt --agent ${agent} "…"`)
      .finally(() => leave("left"));
  };
  const interrupt = (): void => {
    if (asked) {
      goAway();
      return;
    }
    asked = true;
    connection.command({ type: "cancel", agent }).catch((error: unknown) => {
      // The turn may have ended in the same moment; then its end is on the way already.
      if (!(error instanceof AnswerError)) goAway();
    });
  };
  const stops = [
    call.io.onSignal("SIGINT", interrupt),
    call.io.onSignal("SIGTERM", goAway),
    call.io.onSignal("SIGHUP", goAway),
  ];
  return {
    left,
    interrupt,
    asked: () => asked,
    stop: () => {
      for (const stop of stops) stop();
    },
  };
}
