import { lstat, opendir } from "node:fs/promises";
import { join } from "node:path";
import type { TrustedNow } from "../../protocol/objects.ts";
import { engineLimits } from "../engine-limits.ts";
import { makeVisible } from "../visible-text.ts";
import { findRepository } from "./find-repository.ts";
import type { ProjectBounds } from "./project-bounds.ts";
import { listCommands } from "./project-commands.ts";
import { commandFoldersOf } from "./read-project.ts";
import { readProjectFile } from "./read-project-file.ts";

type Hook = TrustedNow["hooks"][number];
type McpServer = TrustedNow["mcp_servers"][number];
type JsonObject = Readonly<Record<string, unknown>>;

/** Settings of agents that may hold hooks and MCP servers. */
const settingsFiles = [
  ".claude/settings.json",
  ".claude/settings.local.json",
  ".gemini/settings.json",
  ".mcp.json",
  ".cursor/mcp.json",
  ".cursor/hooks.json",
  ".vscode/mcp.json",
] as const;
/** Folders whose files git, or a tool around it, runs by itself. */
const hookFolders = [".git/hooks", ".husky"] as const;
/** Files that a shell or an editor runs by itself. */
const hookFiles = [".envrc", ".vscode/tasks.json"] as const;
const shownChars = 500;

/**
 * What a folder brings along that can run something by itself: hooks, MCP servers, slash commands. Told once, when the
 * folder becomes trusted. Only files are read, bounded; what is found is shown with everything hidden made visible.
 *
 * @param cwd real path
 */
export async function findTrustFindings(cwd: string, bounds: ProjectBounds): Promise<TrustedNow> {
  const hooks: Hook[] = [];
  const servers: McpServer[] = [];
  let incomplete = false;
  const root = await findRepository(cwd, bounds);
  const folders = commandFoldersOf(cwd, root);
  for (const folder of folders) {
    for (const source of settingsFiles) {
      const settings = await readSettings(folder, source, bounds);
      if (settings === "unreadable") incomplete = true;
      else if (settings !== null) {
        hooks.push(...hooksOf(settings, source));
        servers.push(...serversOf(settings, source));
      }
    }
    for (const source of hookFolders) hooks.push(...(await scriptsIn(folder, source)));
    for (const source of hookFiles)
      if (await isThere(join(folder, source))) hooks.push({ source, name: source, command: "" });
  }
  const commands = await listCommands(folders, bounds);
  const most = engineLimits.trustFindings;
  return {
    hooks: hooks.slice(0, most),
    mcp_servers: servers.slice(0, most),
    commands: [...commands],
    incomplete:
      incomplete ||
      hooks.length > most ||
      servers.length > most ||
      commands.length >= engineLimits.projectCommands,
  };
}

async function readSettings(
  folder: string,
  source: string,
  bounds: ProjectBounds,
): Promise<JsonObject | "unreadable" | null> {
  const file = await readProjectFile(folder, source, { ...bounds, maxBytes: engineLimits.trustFileBytes });
  if (!file) return (await isThere(join(folder, source))) ? "unreadable" : null;
  try {
    return asObject(JSON.parse(file.text)) ?? "unreadable";
  } catch {
    // JSON with comments, or damaged: somebody has to look at it himself.
    return "unreadable";
  }
}

/** `{"hooks":{"PreToolUse":[{"matcher":"…","hooks":[{"type":"command","command":"…"}]}]}}`, or a list of commands per event. */
function hooksOf(settings: JsonObject, source: string): Hook[] {
  const found: Hook[] = [];
  for (const [name, entries] of Object.entries(asObject(settings.hooks) ?? {})) {
    for (const entry of asList(entries)) {
      const inner = asObject(entry);
      for (const hook of inner && Array.isArray(inner.hooks) ? asList(inner.hooks) : [entry]) {
        const command = asObject(hook)?.command ?? hook;
        if (typeof command === "string") found.push({ source, name: shown(name), command: shown(command) });
      }
    }
  }
  return found;
}

function serversOf(settings: JsonObject, source: string): McpServer[] {
  const servers = asObject(settings.mcpServers) ?? asObject(settings.servers) ?? {};
  return Object.entries(servers).map(([name, raw]) => {
    const server = asObject(raw) ?? {};
    const words = [server.command, ...asList(server.args)].filter((word) => typeof word === "string");
    const url = typeof server.url === "string" ? server.url : "";
    return { source, name: shown(name), command: shown(words.length > 0 ? words.join(" ") : url) };
  });
}

async function scriptsIn(folder: string, source: string): Promise<Hook[]> {
  const found: Hook[] = [];
  let scanned = 0;
  // `lstat` first: a link out of the project is not followed.
  if (!(await lstat(join(folder, source)).catch(() => null))?.isDirectory()) return found;
  try {
    for await (const entry of await opendir(join(folder, source))) {
      scanned += 1;
      if (scanned > engineLimits.projectEntriesScanned) break;
      if (entry.isDirectory() || entry.name.endsWith(".sample") || entry.name.startsWith(".")) continue;
      found.push({ source, name: shown(entry.name), command: "" });
    }
  } catch {
    // Not readable for us: then git cannot run it as this user either.
    return found;
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null)) !== null;
}

function asObject(raw: unknown): JsonObject | null {
  return typeof raw === "object" && raw !== null && !Array.isArray(raw) ? (raw as JsonObject) : null;
}

function asList(raw: unknown): readonly unknown[] {
  return Array.isArray(raw) ? raw.slice(0, engineLimits.trustFindings) : [];
}

function shown(text: string): string {
  return makeVisible(text.slice(0, shownChars), { keepLayout: false });
}
