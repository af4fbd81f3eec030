import type { MewServerMessage } from "../../../../src/protocol/mew/server-messages.ts";
import type { MewMessage, MewPart } from "../../../../src/protocol/mew/values.ts";

/** What a client that does as the protocol says has on its screen: parts by id, in their order. */
export function createClientModel(history: readonly MewMessage[] = []) {
  const parts = new Map<string, MewPart>(
    history.flatMap((message) => message.parts.map((part) => [part.id, part] as const)),
  );

  function append(id: string, delta: string): void {
    const part = parts.get(id);
    if (!part || !("text" in part)) throw new Error(`a delta for a part that is not there: ${id}`);
    parts.set(id, { ...part, text: part.text + delta });
  }

  return {
    parts,
    apply(message: MewServerMessage): void {
      if (message.type === "part_updated") parts.set(message.part_id, message.part);
      if (message.type === "tool_progress") {
        for (const [id, part] of parts)
          if (
            part.type === "tool_call" &&
            part.call_id === message.call_id &&
            part.state.status === "running"
          )
            parts.set(id, { ...part, state: { ...part.state, output: part.state.output + message.chunk } });
      }
      if (message.type !== "provider") return;
      const { event } = message;
      if (event.type === "part_start") parts.set(event.part.id, event.part);
      if (event.type === "part_delta") append(event.part_id, event.delta);
      if (event.type === "part_end" && !parts.has(event.part_id)) throw new Error("the end of no part");
    },
  };
}
