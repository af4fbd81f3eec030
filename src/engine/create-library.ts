import { realpath, unlink } from "node:fs/promises";
import { join } from "node:path";
import { SallyportError } from "../errors.ts";
import { syncFolder } from "../lib/atomic-file.ts";
import { toTime } from "../lib/clock.ts";
import type { ChangeBody } from "../protocol/changes.ts";
import { deltaEventTypes } from "../protocol/events.ts";
import type { SessionRow } from "../protocol/rest-objects.ts";
import type { Agents } from "./agents/agents.ts";
import { listFolder } from "./browse/list-folder.ts";
import type { ChangeLog } from "./change-log.ts";
import { orRefuse } from "./disk-refusal.ts";
import type { Library, SessionLibrary } from "./library.ts";
import { noSession, noTab } from "./not-found.ts";
import { removeSessionRecord } from "./runtimes/acp/session-record.ts";
import type { Runtime } from "./runtimes/runtime.ts";
import { runtimesView } from "./runtimes/runtimes-view.ts";
import { selectSessions } from "./sessions/select-sessions.ts";
import type { SessionFacts } from "./sessions/session-facts.ts";
import type { SessionFlags } from "./sessions/session-flags.ts";
import { createSessionIndex } from "./sessions/session-index.ts";
import { daemonTools } from "./tools.ts";
import { checkSessionId } from "./transcripts/read-session.ts";
import { transcriptPath } from "./transcripts/transcript.ts";
import { removeReservedPrompt } from "./turns/reserved-prompt.ts";
import { createUsageIndex } from "./usage/usage-index.ts";
import { workspaceRow } from "./workspaces/rows.ts";
import type { WorkspaceStore } from "./workspaces/workspace-store.ts";

export interface LibraryOptions {
  readonly home: string;
  readonly userHome: string;
  readonly browseRoot: () => string;
  readonly store: WorkspaceStore;
  readonly agents: Agents;
  readonly flags: SessionFlags;
  readonly changeLog: ChangeLog;
  readonly runtimes: ReadonlyMap<string, Runtime>;
  /** What runs in new tabs, when nobody says. */
  readonly tabRuntime: () => string;
  /** How to get an agent, in a sentence; null where there is one. */
  readonly addAgent: () => string | null;
  readonly isTrusted: (cwd: string) => boolean;
  readonly assertOpen: () => void;
  readonly append: (change: ChangeBody) => void;
  readonly now: () => number;
  readonly report: (problem: string) => void;
}

const defaultSessions = 50;
const saveAfterMs = 10_000;
/** Other programs seldom write to our transcripts; what they do is seen within this time. */
const recheckAllMs = 60_000;

/** Nothing is read from disk before somebody asks. */
export function createLibrary(options: LibraryOptions): Library & SessionLibrary {
  const { store, agents, now, report } = options;
  const folder = join(options.home, "sessions");
  const cacheFolder = join(options.home, "cache");
  const index = createSessionIndex({
    folder,
    cachePath: join(cacheFolder, "sessions.json"),
    report,
    saveAfterMs,
  });
  const usage = createUsageIndex({
    folder,
    cachePath: join(cacheFolder, "usage.json"),
    sessions: index,
    report,
  });
  let checkedAllMs: number | null = null;
  const stopListening = options.changeLog.subscribe(({ change }) => {
    if (change.type !== "event" || change.event.agent === null || deltaEventTypes.has(change.event.type))
      return;
    index.touch(change.event.agent);
  });

  function rowOf(facts: SessionFacts): SessionRow {
    const place = store.findAgent(facts.id);
    const activity = agents.activityOf(facts.id);
    return {
      id: facts.id,
      title: place?.agent.title ?? facts.title,
      label: place?.agent.label ?? facts.label,
      prompt: facts.prompt,
      cwd: facts.cwd,
      runtime: facts.runtime,
      model: place?.agent.model ?? facts.model,
      parent: facts.parent,
      started: facts.started,
      updated: toTime(facts.updated_ms),
      bytes: facts.bytes,
      state: place ? activity.state : "closed",
      live: place !== null && activity.live,
      workspace: place?.workspace.id ?? null,
      tab: place?.tab.id ?? null,
      damaged: facts.damaged,
      ...options.flags.get(facts.id),
    };
  }

  function recheckSometimes(): void {
    checkedAllMs ??= now();
    if (Math.abs(now() - checkedAllMs) < recheckAllMs) return;
    checkedAllMs = now();
    index.recheckAll().catch((error: unknown) => report(`sessions could not be looked at: ${String(error)}`));
  }

  async function allSessions(): Promise<readonly SessionFacts[]> {
    await orRefuse(index.refresh());
    recheckSometimes();
    return index.rows();
  }

  return {
    listWorkspaces: () => store.list().map(workspaceRow),
    async listSessions(query) {
      const selection = {
        cwd: query.cwd === undefined ? null : await realFolder(query.cwd, options.userHome),
        limit: query.limit ?? defaultSessions,
        subagents: query.subagents ?? false,
        before: query.before ?? null,
        search: query.q ?? null,
      };
      await orRefuse(index.refresh());
      recheckSometimes();
      let page = selectSessions(index.rows(), selection);
      if (await index.recheck(page.rows.map((row) => row.id))) page = selectSessions(index.rows(), selection);
      return { sessions: page.rows.map(rowOf), next: page.next };
    },
    async deleteSession(id, actor) {
      checkSessionId(id);
      options.assertOpen();
      if (store.findAgent(id) || agents.peek(id)?.current)
        throw new SallyportError("conflict", "This session is open on a tab. Close its agent first.", {
          reason: "in_use",
        });
      actor.assertLive();
      await orRefuse(
        unlink(transcriptPath(folder, id)).catch((error: NodeJS.ErrnoException) => {
          if (error.code === "ENOENT") throw noSession();
          throw error;
        }),
      );
      agents.forget(id);
      options.append({ type: "session_deleted", session: id });
      await orRefuse(removeReservedPrompt(folder, id));
      await removeSessionRecord(folder, id);
      await orRefuse(syncFolder(folder));
      await options.flags.forget(id);
    },
    async session(id) {
      checkSessionId(id, "session");
      await orRefuse(index.refresh());
      await orRefuse(index.recheck([id]));
      const facts = index.get(id);
      if (!facts) throw noSession("session");
      return rowOf(facts);
    },
    async newestSessions(max) {
      const facts = await allSessions();
      return facts
        .filter((each) => each.parent === null)
        .slice(0, max)
        .map(rowOf);
    },
    allSessions,
    usage: (days) => orRefuse(usage.usage(days, now())),
    browse: (query) =>
      listFolder(query, {
        homeFolder: options.home,
        userHome: options.userHome,
        browseRoot: options.browseRoot(),
      }),
    tools: () => [
      ...daemonTools,
      ...[...options.runtimes.values()].flatMap((runtime) =>
        (runtime.tools ?? []).map((tool) => ({ ...tool, runtime: runtime.name })),
      ),
    ],
    models: () => runtimesView(options),
    async context(tabId) {
      const tab = store.findTab(tabId)?.tab;
      if (!tab) throw noTab();
      const agent = tab.agents.find((each) => each.id === tab.active_agent) ?? null;
      await orRefuse(index.refresh());
      return {
        tab: tab.id,
        cwd: tab.cwd,
        trusted: options.isTrusted(tab.cwd),
        mode: tab.mode,
        runtime: agent?.runtime ?? tab.runtime,
        agent: agent?.id ?? null,
        model: agent?.model ?? null,
        context_tokens: agent ? (index.get(agent.id)?.context_tokens ?? null) : null,
      };
    },
    async contextTokens(agent) {
      await orRefuse(index.refresh());
      return index.get(agent)?.context_tokens ?? null;
    },
    async close() {
      stopListening();
      await index.close();
    },
  };
}

/** Sessions keep the real path of their folder; one that is gone can still be asked for by that path. */
async function realFolder(rawPath: string, userHome: string): Promise<string> {
  const path = rawPath === "~" || rawPath.startsWith("~/") ? join(userHome, rawPath.slice(1)) : rawPath;
  if (path.includes("\0"))
    throw new SallyportError("invalid_field", "`cwd` holds a NUL character.", { field: "cwd" });
  return realpath(path).catch(() => (path.length > 1 ? path.replace(/\/+$/, "") : path));
}
