import type { ModelList, RuntimeRow } from "../../protocol/rest-objects.ts";
import { exitCodes, usageError } from "../cli-error.ts";
import { type Call, type CommandSpec, isOn, textOption } from "../command.ts";
import { table } from "../printer.ts";
import { openSession, tabOption } from "../session.ts";
import { requireTarget } from "../target.ts";
import { inline } from "../text.ts";
import { keyCommand } from "./key.ts";

const listCommand: CommandSpec = {
  usage: "list",
  about: "List what can run agents here: the shell, and coding agents that are configured or installed.",
  examples: ["sallyport agents list --json"],
  json: true,
  anywhere: true,
  run: list,
};

const useCommand: CommandSpec = {
  usage: "use <name>",
  about: "Choose what new agents of a tab run.",
  examples: ["sallyport agents use qwen --tab .", "sallyport agents use shell --project"],
  json: true,
  anywhere: true,
  options: [
    { flags: "--tab <dir>", about: "the folder of the tab; without it the daemon's active tab" },
    { flags: "--model <id>", about: "the model of new agents" },
    { flags: "--project", about: "for new tabs on its folder too" },
  ],
  run: use,
};

export const agentsCommand: CommandSpec = {
  usage: "agents",
  about: "The coding agents that can be driven from here. Without a further word: list them.",
  examples: ["sallyport agents", "sallyport agents use qwen --tab .", "sallyport agents key qwen"],
  json: true,
  anywhere: true,
  children: [listCommand, useCommand, keyCommand],
  run: list,
};

async function list(call: Call): Promise<number> {
  const { rest } = await requireTarget(call);
  const answer = await rest.body<ModelList>("GET", "/api/models");
  if (call.json) {
    await call.out.json(answer);
    return exitCodes.done;
  }
  const rows = answer.runtimes.filter(isOfInterest);
  const mark = ({ name }: RuntimeRow): string => (name === answer.default_runtime ? "*" : "");
  await call.out.line(
    table([
      ["NAME", "", "STATE", "AGENT"],
      ...rows.map((row) => [
        inline(row.name),
        mark(row),
        row.state,
        `${inline(row.title)}: ${inline(row.message)}`,
      ]),
    ]),
  );
  for (const { name, kind, next } of rows)
    if (next !== null && kind !== "shell") await call.out.line(`\n${inline(name)}: ${inline(next)}`);
  if (answer.add_agent !== null) await call.out.line(`\n${inline(answer.add_agent)}`);
  else await call.out.line("\n* runs in new tabs. Another one: sallyport agents use NAME --tab .");
  return exitCodes.done;
}

/** A runtime for tests that nobody set up says nothing to anybody. */
function isOfInterest({ kind, state }: RuntimeRow): boolean {
  return kind !== "replay" || state !== "missing";
}

async function use(call: Call): Promise<number> {
  const [name] = call.words;
  if (name === undefined) throw usageError("Name an agent, as in: sallyport agents use qwen");
  const { connection } = await openSession(call);
  try {
    const { workspace } = connection.snapshot;
    const tab = (await tabOption(call, connection)) ?? workspace.active_tab ?? workspace.tabs[0]?.id;
    if (tab === undefined) throw usageError("There is no tab yet. Name a folder: --tab .");
    const model = textOption(call, "model");
    const chosen = await connection.command({
      type: "tab_runtime",
      tab,
      runtime: name,
      ...(model === null ? {} : { model }),
      ...(isOn(call, "project") ? { project: true } : {}),
    });
    if (call.json) await call.out.json(chosen);
    else
      await call.out.line(
        `New agents of this tab${isOn(call, "project") ? ", and new tabs on its folder," : ""} run ${inline(chosen.runtime)}.`,
      );
    return exitCodes.done;
  } finally {
    connection.close();
  }
}
