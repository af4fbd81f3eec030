import type { AgentEvent } from "../src/protocol/events.ts";
import { el } from "./dom.ts";
import { outputText, visible } from "./visible.ts";

const maxChars = 64 * 1024;

export interface OutputView {
  readonly element: HTMLElement;
  /** The agent that is followed. */
  agent(): string | null;
  follow(agent: string): void;
  event(event: AgentEvent): void;
}

/** What the followed agent does, as plain text; the newest 64 KiB of it. */
export function createOutput(): OutputView {
  const log = el("pre", {
    class: "output",
    tabindex: "0",
    role: "log",
    "aria-label": "Output",
    hidden: true,
  });
  let followed: string | null = null;
  let text = "";
  /** Events may come before the reply that names the agent. */
  let early: AgentEvent[] = [];
  let drawing = false;

  const write = (more: string): void => {
    text = (text + more).slice(-maxChars);
    if (drawing) return;
    drawing = true;
    requestAnimationFrame(() => {
      drawing = false;
      const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
      log.hidden = false;
      log.textContent = text;
      if (atEnd) log.scrollTop = log.scrollHeight;
    });
  };

  const view: OutputView = {
    element: log,
    agent: () => followed,
    follow(agent) {
      if (followed === agent) return;
      followed = agent;
      text = "";
      const missed = early;
      early = [];
      for (const event of missed) view.event(event);
    },
    event(event) {
      if (event.agent !== followed) {
        early = [...early.slice(-199), event];
        return;
      }
      write(lineOf(event));
    },
  };
  return view;
}

/** One event as text; empty for what this page does not show. */
export function lineOf(event: AgentEvent): string {
  switch (event.type) {
    case "user_message":
      return `\n› ${visible(event.text)}\n`;
    case "text_delta":
      return outputText(event.text);
    case "tool_output":
      return outputText(event.text);
    case "tool_finished":
      return event.exit_code
        ? `\n[exit ${event.exit_code}]\n`
        : event.is_error
          ? `\n[${outputText(event.output)}]\n`
          : "";
    case "notice":
      return `\n[${outputText(event.message)}]\n`;
    case "error":
      return `\n[${outputText(event.message)}]\n`;
    case "turn_finished":
      return event.outcome === "done" ? "\n" : `\n[${event.outcome}]\n`;
    default:
      return "";
  }
}
