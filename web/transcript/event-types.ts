import type { AgentEvent } from "../../src/protocol/events.ts";

/** Events that are live only. Written out, because the protocol's own set would bring its schemas into the page. */
export const deltaTypes: ReadonlySet<AgentEvent["type"]> = new Set([
  "text_delta",
  "thinking_delta",
  "tool_call_streaming",
  "tool_output",
] as const);
