import { visibleText } from "../lib/visible-text.ts";
import type { Decision, PermissionRequest } from "../protocol/objects.ts";
import type { Keyboard } from "./io.ts";
import type { Printer } from "./printer.ts";
import { inline } from "./text.ts";

export interface ApprovalDesk {
  /** Shows a request and waits for a key. The request is kept until it is `resolved`. */
  ask(request: PermissionRequest): Promise<void>;
  /** The request was answered, here or elsewhere. */
  resolved(requestId: string): Promise<void>;
  close(): void;
}

export interface ApprovalDeskOptions {
  readonly out: Printer;
  /** Null: nobody can answer here. */
  readonly keyboard: Keyboard | null;
  /** Where somebody else can answer. */
  readonly url: string;
  readonly answer: (request: PermissionRequest, decision: Decision) => void;
  readonly interrupt: () => void;
}

/**
 * Asks the person at the keyboard. Keys are read from the start and count only while a question is on the screen, so
 * that nothing typed ahead allows anything.
 */
export function openApprovalDesk(options: ApprovalDeskOptions): ApprovalDesk {
  const { out, keyboard } = options;
  const waiting: PermissionRequest[] = [];
  let shown: PermissionRequest | null = null;
  const stop = keyboard?.listen((key) => {
    if (key === "\u0003") {
      options.interrupt();
      return;
    }
    const decision = shown === null ? null : decisionOfKey(key, shown);
    if (shown === null || decision === null) return;
    const request = shown;
    shown = null;
    options.answer(request, decision);
  });

  const showNext = async (): Promise<void> => {
    const next = waiting[0];
    if (shown !== null || next === undefined) return;
    await out.note(requestText(next));
    if (keyboard === null) {
      await out.note(
        `  Waiting for an answer. Nobody can type one here: answer on a paired device, or at ${options.url}`,
      );
      return;
    }
    shown = next;
    await out.note(keysText(next));
  };

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
    close: () => stop?.(),
  };
}

/** What a key means for this request: y allow, s allow for the session where that is offered, n deny. */
export function decisionOfKey(key: string, request: PermissionRequest): Decision | null {
  switch (key.toLowerCase()) {
    case "y":
      return "allow";
    case "s":
      return request.allow_session === null ? null : "allow_session";
    case "n":
      return "deny";
    default:
      return null;
  }
}

/** The command or path whole, with what would not be seen made visible; an agent's own words come last and are marked. */
export function requestText(request: PermissionRequest): string {
  const subject = subjectOf(request.input);
  const shown = visibleText(subject ?? JSON.stringify(request.input));
  const lines = [
    "",
    `The agent asks to use ${inline(request.tool)} in ${visibleText(request.cwd)}:`,
    ...shown.split("\n").map((line) => `  | ${line}`),
  ];
  if (request.summary !== "" && request.summary !== subject)
    lines.push(`  (in the agent's own words: ${inline(visibleText(request.summary))})`);
  return lines.join("\n");
}

function keysText(request: PermissionRequest): string {
  const session =
    request.allow_session === null
      ? ""
      : `   s allow ${inline(visibleText(request.allow_session))} for this session`;
  return `  y allow${session}   n deny`;
}

function subjectOf(input: unknown): string | null {
  if (typeof input !== "object" || input === null) return null;
  const { command, path } = input as Record<string, unknown>;
  if (typeof command === "string") return command;
  // A path alone is the whole of an input only where nothing else is in it.
  return typeof path === "string" && Object.keys(input).length === 1 ? path : null;
}
