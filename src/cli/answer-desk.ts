import { setImmediate } from "node:timers/promises";
import type { Decision, PermissionRequest, Question } from "../protocol/objects.ts";
import { decisionOfKey, keysText, requestText } from "./ask-approval.ts";
import type { Printer } from "./printer.ts";
import { answerOfLine, questionText } from "./question-text.ts";
import { inline } from "./text.ts";

export interface AnswerDeskOptions {
  readonly out: Printer;
  /** False: nobody can type here. */
  readonly hasKeyboard: boolean;
  /** How else an answer can be given. */
  readonly elsewhere: string;
  /** Something is on the screen now and can be answered. */
  readonly onShown?: () => void;
  /** Shows what is typed as an answer. */
  readonly echo: (text: string) => void;
  /** Sends a decision. False: it was refused and the request still waits. */
  readonly approve: (request: PermissionRequest, decision: Decision) => Promise<boolean>;
  /** As `approve`; `answers` null: the question is closed without an answer. */
  readonly answer: (question: Question, answers: readonly string[] | null) => Promise<boolean>;
}

/** What waits for a person, shown one at a time, oldest first. It is kept until it is `resolved`, here or elsewhere. */
export interface AnswerDesk {
  ask(request: PermissionRequest | Question): Promise<void>;
  resolved(requestId: string): Promise<void>;
  /** A key. Counts only while something is on the screen, so that nothing typed ahead allows anything. */
  key(key: string): void;
  /** A whole line, as an answer to the question on the screen. False when none is. */
  line(line: string): boolean;
  /** Decides what is on the screen; false when that is no permission request. */
  decide(decision: Decision): boolean;
  /** Something is on the screen. */
  readonly isAsking: boolean;
  /** A question is on the screen: what is typed belongs to it. */
  readonly isQuestion: boolean;
}

/** A whole round of input: one immediate may come before this round's input, the next comes after it. */
export async function untilTypedAheadIsRead(): Promise<void> {
  await setImmediate();
  await setImmediate();
}

type Request = PermissionRequest | Question;

/** Writes through `out` alone and reads nothing: whoever reads the keyboard hands keys and lines in. */
export function openAnswerDesk(options: AnswerDeskOptions): AnswerDesk {
  const { out, hasKeyboard } = options;
  const waiting: Request[] = [];
  let shown: Request | null = null;
  let answers: string[] = [];
  let typed = "";

  async function showNext(): Promise<void> {
    const next = waiting[0];
    if (shown !== null || next === undefined) return;
    answers = [];
    typed = "";
    await out.note(isQuestion(next) ? questionText(next, 0) : requestText(next));
    if (!hasKeyboard) await out.note(`  Waiting for an answer. ${options.elsewhere}`);
    // What was typed before it could be read is still on its way in: it must answer nothing.
    else await untilTypedAheadIsRead();
    // Another may have been shown, or this one answered, while it was written.
    if (waiting[0] !== next) return showNext();
    shown = next;
    options.onShown?.();
    if (hasKeyboard && !isQuestion(next)) await out.note(keysText(next));
  }

  function take(line: string): void {
    if (shown === null || !isQuestion(shown)) return;
    const question = shown;
    if (line.trim() === "/skip") {
      send(question, options.answer(question, null));
      return;
    }
    const read = answerOfLine(question, answers.length, line);
    if (!read.ok) {
      void out.note(`  ${read.hint}`);
      return;
    }
    answers.push(read.answer);
    if (answers.length < question.questions.length) {
      void out.note(questionText(question, answers.length));
      return;
    }
    send(question, options.answer(question, answers));
  }

  /** What was refused, because it changed or the line was bad, is shown again. */
  function send(request: Request, sent: Promise<boolean>): void {
    shown = null;
    void sent.then((isSettled) => {
      if (!isSettled && waiting[0] === request && shown === null) void showNext();
    });
  }

  function decide(decision: Decision): boolean {
    if (shown === null || isQuestion(shown)) return false;
    send(shown, options.approve(shown, decision));
    return true;
  }

  return {
    async ask(request) {
      const known = waiting.findIndex(({ request_id }) => request_id === request.request_id);
      // The same request again: its call changed, and what was shown before counts no more.
      if (known !== -1) waiting.splice(known, 1);
      if (shown?.request_id === request.request_id) shown = null;
      waiting.push(request);
      if (waiting.length === 1) await showNext();
    },
    async resolved(requestId) {
      const index = waiting.findIndex((request) => request.request_id === requestId);
      if (index === -1) return;
      waiting.splice(index, 1);
      if (shown?.request_id === requestId) shown = null;
      if (index === 0) await showNext();
    },
    key(key) {
      if (shown === null) return;
      if (!isQuestion(shown)) {
        const decision = decisionOfKey(key, shown);
        if (decision !== null) decide(decision);
      } else if (key === "\r" || key === "\n") {
        const line = typed;
        typed = "";
        options.echo("\n");
        take(line);
      } else if (key === "\u007f" || key === "\b") {
        if (typed !== "") options.echo("\b \b");
        typed = [...typed].slice(0, -1).join("");
      } else if (key >= " ") {
        typed += key;
        options.echo(inline(key));
      }
    },
    line(line) {
      if (shown === null || !isQuestion(shown)) return false;
      take(line);
      return true;
    },
    decide(decision) {
      if (
        decision === "allow_session" &&
        shown !== null &&
        !isQuestion(shown) &&
        shown.allow_session === null
      ) {
        void out.note("  This cannot be allowed for the session; allow or deny it.");
        return true;
      }
      return decide(decision);
    },
    get isAsking() {
      return shown !== null;
    },
    get isQuestion() {
      return shown !== null && isQuestion(shown);
    },
  };
}

function isQuestion(request: Request): request is Question {
  return "questions" in request;
}
