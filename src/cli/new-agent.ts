import type { Client } from "../client/client.ts";
import { usageError } from "./cli-error.ts";
import { type Call, textOption } from "./command.ts";
import { namedId } from "./session.ts";

/** Options by which a new agent is chosen. */
export const newAgentOptions = [
  { flags: "--runtime <name>", about: "what runs the new agent: sallyport agents lists them" },
  { flags: "--model <id>", about: "the model of the new agent" },
] as const;

/** True where the options choose what runs a new agent. Throws a usage error where an agent is named as well. */
export function choosesAgent(call: Call): boolean {
  const chooses = textOption(call, "runtime") !== null || textOption(call, "model") !== null;
  if (chooses && textOption(call, "agent") !== null)
    throw usageError("--runtime and --model are for a new agent. Leave --agent away.");
  return chooses;
}

/** Starts an agent as the options say; yields its id. */
export async function startChosen(
  call: Call,
  connection: Pick<Client, "command">,
  place: { readonly tab: string | null; readonly label?: string },
): Promise<string | null> {
  const [runtime, model] = [textOption(call, "runtime"), textOption(call, "model")];
  const started = await connection.command({
    type: "agent_start",
    ...(place.label === undefined ? {} : { label: place.label }),
    ...(place.tab === null ? {} : { tab: place.tab }),
    ...(runtime === null ? {} : { runtime }),
    ...(model === null ? {} : { model }),
  });
  return namedId(started.agent);
}
