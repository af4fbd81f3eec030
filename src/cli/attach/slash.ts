import type { Client } from "../../client/client.ts";
import { modes, type TabWithAgents } from "../../protocol/objects.ts";
import { stateText } from "../jobs.ts";
import { createLogFilter } from "../log-filter.ts";
import { type Printer, table } from "../printer.ts";
import { inline, shortTime } from "../text.ts";
import { helpText, type Line } from "./parse-line.ts";

const tailLines = 40;

export interface SlashContext {
  readonly client: Client;
  readonly out: Printer;
  readonly note: (line: string) => Promise<void>;
  /** Null when the tab was closed. */
  readonly tab: TabWithAgents | null;
  readonly agent: string | null;
}

/** Does what a slash line asks for, and shows it; yields the agent to go to, or null to stay. */
export async function runSlash(line: Line, context: SlashContext): Promise<string | null> {
  const { client, note, tab, agent } = context;
  switch (line.do) {
    case "help":
      await note(helpText);
      return null;
    case "wrong":
      await note(line.hint);
      return null;
    case "jobs": {
      const { jobs } = await client.command({ type: "job_list" });
      await note(
        jobs.length === 0
          ? "No jobs. A command that ends with & becomes one."
          : table(
              jobs.map((job) => [
                inline(job.id),
                stateText(job),
                shortTime(job.started),
                inline(job.command),
              ]),
            ),
      );
      return null;
    }
    case "job": {
      const chunk = await client.command({ type: "job_output", job: line.id, tail: tailLines });
      const filter = createLogFilter({ colours: false });
      await note((filter.push(chunk.output) + filter.end()).trimEnd());
      return null;
    }
    case "agents":
      await note(agentsText(tab, agent));
      return null;
    case "agent":
      return chooseAgent(tab, line.which, note);
    case "mode":
      await note(await modeText(context, line.mode));
      return null;
    case "compact":
      if (agent === null) await note("There is no conversation yet.");
      else await client.command({ type: "compact", agent });
      return null;
    default:
      return null;
  }
}

function agentsText(tab: TabWithAgents | null, agent: string | null): string {
  if (tab === null || tab.agents.length === 0) return "No agents in this tab. A prompt begins one.";
  return table(
    tab.agents.map((row, index) => [
      `${row.id === agent ? "*" : " "} ${index + 1}`,
      row.state,
      inline(row.title ?? row.label ?? "(untitled)"),
      inline(row.id),
    ]),
  );
}

async function chooseAgent(
  tab: TabWithAgents | null,
  which: string,
  note: SlashContext["note"],
): Promise<string | null> {
  const agents = tab?.agents ?? [];
  const found = /^\d{1,4}$/.test(which) ? agents[Number(which) - 1] : agents.find(({ id }) => id === which);
  if (found === undefined) {
    await note("There is no such agent in this tab. See /agents");
    return null;
  }
  await note(`--- ${inline(found.title ?? found.label ?? found.id)}`);
  return found.id;
}

async function modeText({ client, tab }: SlashContext, wanted: string | null): Promise<string> {
  if (tab === null) return "The tab was closed. Attach again: sallyport attach";
  if (wanted === null) return `The mode of this tab is ${tab.mode}. Modes: ${modes.join(", ")}`;
  const mode = modes.find((each) => each === wanted);
  if (mode === undefined) return `There is no mode "${inline(wanted)}"; there are: ${modes.join(", ")}`;
  await client.command({ type: "mode", tab: tab.id, mode });
  return `The mode of this tab is ${mode}.`;
}
