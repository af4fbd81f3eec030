import type { SessionPage } from "../../../src/engine/engine.ts";
import type { AgentEvent } from "../../../src/protocol/events.ts";

export interface ConversationView {
  readonly messages: Record<string, { text: string; thinking: string; done: boolean }>;
  readonly calls: Record<string, { output: string; done: boolean }>;
  /** Types and numbers of the records. */
  readonly records: string[];
  /** Where the pieces that were streamed are not what the record says in the end. */
  readonly torn: string[];
}

const liveOnly = new Set(["text_delta", "thinking_delta", "tool_call_streaming", "tool_output"]);

/** What a client knows that was there from the beginning (`events` alone), or that joined by a page of the session. */
export function viewOf(events: readonly AgentEvent[], page?: SessionPage): ConversationView {
  const view: ConversationView = { messages: {}, calls: {}, records: [], torn: [] };
  const message = (id: string) => {
    view.messages[id] ??= { text: "", thinking: "", done: false };
    return view.messages[id];
  };
  const call = (id: string) => {
    view.calls[id] ??= { output: "", done: false };
    return view.calls[id];
  };
  function take(event: AgentEvent): void {
    if (!liveOnly.has(event.type)) view.records.push(`${event.seq} ${event.type}`);
    if (event.type === "text_delta") message(event.message).text += event.text;
    if (event.type === "thinking_delta") message(event.message).thinking += event.text;
    if (event.type === "tool_started") call(event.call_id);
    if (event.type === "tool_output") call(event.call_id).output += event.text;
    if (event.type === "assistant_message") {
      const { id, text, thinking = "" } = event.message;
      const known = message(id);
      if (known.text !== "" && known.text !== text) view.torn.push(id);
      if (known.thinking !== "" && known.thinking !== thinking) view.torn.push(id);
      view.messages[id] = { text, thinking, done: true };
    }
    if (event.type === "tool_finished") {
      const known = call(event.call_id);
      if (!event.output.startsWith(known.output)) view.torn.push(event.call_id);
      view.calls[event.call_id] = { output: event.output, done: true };
    }
  }
  if (!page) {
    for (const event of events) take(event);
    return view;
  }
  for (const record of page.records) take(record);
  const { streaming } = page;
  if (streaming?.message) Object.assign(message(streaming.message), pick(streaming));
  for (const { call_id, output } of streaming?.tools ?? []) call(call_id).output = output;
  for (const event of events) if (event.seq > page.seq) take(event);
  return view;
}

function pick({ text, thinking }: { readonly text: string; readonly thinking: string }) {
  return { text, thinking };
}

/** What is wrong with the records of an agent whose turns are over: things that were begun and never ended, or twice. */
export function unbalanced(records: readonly AgentEvent[]): string[] {
  const open = new Map<string, string>();
  const wrong: string[] = [];
  const begin = (kind: string, id: string): void => {
    if (open.has(`${kind} ${id}`)) wrong.push(`${kind} begun twice`);
    open.set(`${kind} ${id}`, kind);
  };
  const end = (kind: string, id: string): void => {
    if (!open.delete(`${kind} ${id}`)) wrong.push(`${kind} ended and not open`);
  };
  let lastSeq = 0;
  for (const record of records) {
    if (record.seq <= lastSeq) wrong.push("seq does not grow");
    lastSeq = record.seq;
    if (record.type === "turn_started") {
      if ([...open.values()].includes("turn")) wrong.push("two turns at once");
      begin("turn", record.turn);
    }
    if (record.type === "tool_started") begin("call", record.call_id);
    if (record.type === "tool_finished") end("call", record.call_id);
    if (record.type === "permission_requested") begin("permission", record.request_id);
    if (record.type === "permission_resolved") end("permission", record.request_id);
    if (record.type === "question_asked") begin("question", record.request_id);
    if (record.type === "question_resolved") end("question", record.request_id);
    if (record.type === "turn_finished") {
      end("turn", record.turn);
      if (open.size > 0) wrong.push(`the turn ended before ${[...open.values()].join(", ")}`);
      open.clear();
    }
  }
  return [...wrong, ...[...open.values()].map((kind) => `${kind} never ended`)];
}
