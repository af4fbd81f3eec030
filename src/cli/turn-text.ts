import { visibleText } from "../lib/visible-text.ts";
import type { AgentEvent } from "../protocol/events.ts";
import type { Io } from "./io.ts";
import { createLogFilter } from "./log-filter.ts";
import type { Printer } from "./printer.ts";
import { inline } from "./text.ts";

export interface TurnText {
  show(event: AgentEvent): Promise<void>;
  end(): Promise<void>;
}

/** Shows a turn to a person: the agent's words and the tools' output on stdout, what happens around them on stderr. */
export function createTurnText(io: Io, out: Printer): TurnText {
  const filter = createLogFilter({ colours: io.stdout.isTerminal });
  const streamed = new Set<string>();
  let atLineStart = true;
  const put = async (text: string): Promise<void> => {
    if (text === "") return;
    atLineStart = text.endsWith("\n");
    await io.stdout.write(text);
  };
  const putLog = (text: string): Promise<void> => put(filter.push(text));
  const finishLine = async (): Promise<void> => {
    await put(filter.end());
    if (!atLineStart) await put("\n");
  };
  const note = async (text: string): Promise<void> => {
    await finishLine();
    await out.note(text);
  };

  return {
    end: finishLine,
    async show(event) {
      switch (event.type) {
        case "text_delta":
          streamed.add(event.message);
          return putLog(event.text);
        case "assistant_message":
          if (!streamed.has(event.message.id)) await putLog(event.message.text);
          return finishLine();
        case "tool_started":
          return note(`> ${inline(event.tool)}: ${inline(visibleText(event.summary))}`);
        case "tool_output":
          streamed.add(event.call_id);
          return putLog(event.text);
        case "tool_finished":
          if (!streamed.has(event.call_id)) await putLog(event.output);
          await finishLine();
          if (event.job !== undefined)
            await note(
              `  Runs as job ${inline(event.job)}. Its output: sallyport jobs output ${inline(event.job)} --follow`,
            );
          if (event.exit_code !== undefined && event.exit_code !== null && event.exit_code !== 0)
            await note(`  exit code ${event.exit_code}`);
          else if (event.is_error) await note("  did not succeed");
          return;
        case "permission_resolved":
          return note(
            `  ${event.allowed ? "Allowed" : event.by === null ? "Cancelled" : "Denied"}${event.by === null ? "" : ` by ${inline(event.by.name)}`}.`,
          );
        case "notice":
        case "error":
          return note(inline(event.message));
        default:
          return;
      }
    },
  };
}
