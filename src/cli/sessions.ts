import type { AgentEvent } from "../protocol/events.ts";
import type { SessionList } from "../protocol/rest-objects.ts";
import { readTranscript, showPage, type TranscriptPage } from "./attach/show-history.ts";
import { exitCodes, usageError } from "./cli-error.ts";
import { type Call, type CommandSpec, isOn, textOption } from "./command.ts";
import { table } from "./printer.ts";
import { requireTarget } from "./target.ts";
import { byteSize, inline, shortTime } from "./text.ts";
import { createTurnText } from "./turn-text.ts";

const maxSessions = 500;
const defaultSessions = 20;
const maxRecords = 100_000;
const defaultRecords = 200;
const pageRecords = 1_000;

const listOptions = [
  { flags: "--cwd <dir>", about: "only those of this folder, as the daemon names it" },
  { flags: "--limit <n>", about: `how many (default ${defaultSessions})` },
  { flags: "--subagents", about: "subagents too" },
] as const;

const listSessions: CommandSpec = {
  usage: "list",
  about: "List the saved conversations, newest first.",
  examples: ["sallyport sessions list --cwd /srv/api --limit 50"],
  json: true,
  anywhere: true,
  options: listOptions,
  run: list,
};

const showSession: CommandSpec = {
  usage: "show <id>",
  about: "Show a conversation: its newest records, and what its open turn has said so far.",
  examples: ["sallyport sessions show 01a1c0de-0000-7000-8000-000000000000"],
  json: true,
  anywhere: true,
  options: [{ flags: "--limit <n>", about: `how many records (default ${defaultRecords})` }],
  run: show,
};

export const sessionsCommand: CommandSpec = {
  usage: "sessions",
  about: "The saved conversations. Without a further word: list them.",
  examples: ["sallyport sessions", "sallyport sessions show ID"],
  json: true,
  anywhere: true,
  options: listOptions,
  children: [listSessions, showSession],
  run: list,
};

async function list(call: Call): Promise<number> {
  const limit = numberOption(call, maxSessions) ?? defaultSessions;
  const cwd = textOption(call, "cwd");
  if (cwd === "") throw usageError("--cwd is empty. Name a folder: --cwd /srv/api");
  const { rest } = await requireTarget(call);
  const query = new URLSearchParams({ limit: String(limit) });
  if (cwd !== null) query.set("cwd", cwd);
  if (isOn(call, "subagents")) query.set("subagents", "true");
  const answer = await rest.body<SessionList>("GET", `/api/sessions?${query}`);
  if (call.json) await call.out.json(answer);
  else if (answer.sessions.length === 0)
    await call.out.line('No conversations yet. Begin one: sallyport prompt "ls -l"');
  else
    await call.out.line(
      table([
        ["SESSION", "STATE", "UPDATED", "SIZE", "FOLDER", "TITLE"],
        ...answer.sessions.map((session) => [
          inline(session.id),
          session.damaged ? "damaged" : session.state,
          shortTime(session.updated),
          byteSize(session.bytes),
          inline(session.cwd ?? "-"),
          inline(session.title ?? session.label ?? session.prompt ?? "-"),
        ]),
      ]),
    );
  return exitCodes.done;
}

async function show(call: Call): Promise<number> {
  const id = call.words[0] ?? "";
  const limit = numberOption(call, maxRecords) ?? defaultRecords;
  const { rest } = await requireTarget(call);
  if (call.json) {
    await call.out.json(await readTranscript(rest, id, { limit: Math.min(limit, pageRecords) }));
    return exitCodes.done;
  }
  let page = await readTranscript(rest, id, { limit: Math.min(limit, pageRecords) });
  const newest = page;
  const parts: (readonly AgentEvent[])[] = [page.records];
  let left = limit - page.records.length;
  while (left > 0 && page.before !== null && page.records.length > 0) {
    page = await readTranscript(rest, id, { limit: Math.min(left, pageRecords), before: page.before });
    parts.unshift(page.records);
    left -= page.records.length;
  }
  const whole: TranscriptPage = { ...newest, records: parts.flat() };
  const text = createTurnText(call.io, call.out);
  if (page.before !== null) await call.out.note("(older records: --limit N)");
  await showPage(whole, text, async (line) => {
    await text.end();
    await call.out.line(line);
  });
  await text.end();
  return exitCodes.done;
}

function numberOption(call: Call, max: number): number | null {
  const raw = textOption(call, "limit");
  if (raw === null) return null;
  const limit = Number(raw);
  if (!/^\d+$/.test(raw) || limit < 1 || limit > max)
    throw usageError(`--limit takes a number from 1 to ${max}, as in: --limit 50`);
  return limit;
}
