import { SallyportError } from "../../errors.ts";
import type { ChangeBody } from "../../protocol/changes.ts";
import { limits } from "../../protocol/limits.ts";
import type { SessionRow } from "../../protocol/rest-objects.ts";
import type { Actor } from "../actor.ts";
import type { Agents } from "../agents/agents.ts";
import { clearContext } from "../agents/clear-context.ts";
import type { LiveAgent } from "../agents/live-agent.ts";
import { listFolder } from "../browse/list-folder.ts";
import { orRefuse } from "../disk-refusal.ts";
import { pathBelow, previewFile } from "../files/preview-file.ts";
import { type FolderLimits, resolveFolder } from "../files/resolve-folder.ts";
import type { SessionLibrary } from "../library.ts";
import { noAgent } from "../not-found.ts";
import type { ReceiptStore } from "../receipts/receipt-store.ts";
import type { ChooseRuntime } from "../runtimes/choose-runtime.ts";
import type { Runtime } from "../runtimes/runtime.ts";
import type { EventSequence } from "../transcripts/event-sequence.ts";
import type { Prompts } from "../turns/prompts.ts";
import type { TurnRunner } from "../turns/turn-runner.ts";
import { cleanLabel } from "../visible-text.ts";
import type { Workspaces } from "../workspaces/workspaces.ts";
import type { SessionFlags } from "./session-flags.ts";
import type { Sessions } from "./sessions.ts";

export interface SessionsOptions {
  readonly workspaces: Workspaces;
  readonly agents: Agents;
  readonly library: SessionLibrary;
  readonly flags: SessionFlags;
  readonly receipts: ReceiptStore;
  readonly prompts: Prompts;
  readonly runner: TurnRunner;
  readonly runtimes: ReadonlyMap<string, Runtime>;
  readonly runtimeFor: ChooseRuntime;
  readonly sequence: EventSequence;
  readonly recover: (agent: LiveAgent) => Promise<void>;
  /** Bounds of what is listed and read; null for no browse root. */
  readonly bounds: (browseRoot: string | null) => FolderLimits;
  readonly browseRoot: () => string;
  readonly assertOpen: () => void;
  readonly append: (change: ChangeBody) => void;
  readonly report: (problem: string) => void;
}

/**
 * Sessions on a tab are written by their live agent, others one after the other through their file. `bounds` is asked anew
 * at each call, so a changed browse root counts at once.
 */
export function createSessions(options: SessionsOptions): Sessions {
  const { workspaces, agents, library, flags } = options;
  const { store } = workspaces;
  /** What is being written to sessions that are on no tab: one after the other, since each opens the file anew. */
  const writing = new Map<string, Promise<void>>();

  const committing = (actor: Actor) => (): void => {
    options.assertOpen();
    actor.assertLive();
  };

  async function recordTitle(id: string, title: string, actor: Actor): Promise<void> {
    const agent = agents.get(id);
    try {
      if (agent.closing) throw closing();
      await options.recover(agent);
      await orRefuse(options.sequence.ensure());
      await agent.transcript.record([{ type: "title", title }], { beforeWrite: committing(actor) });
    } finally {
      if (!agent.current) await agent.transcript.release();
      if (!agent.current && !store.findAgent(id)) agents.forget(id);
    }
  }

  async function setTitle(id: string, rawTitle: string, actor: Actor): Promise<void> {
    const title = cleanLabel(rawTitle, limits.labelChars);
    if (title === "")
      throw new SallyportError("invalid_field", "A title needs at least one visible character.", {
        field: "title",
      });
    const before = writing.get(id);
    const mine = (async () => {
      // Another one's failure is told to whoever asked for it.
      await before?.catch(() => undefined);
      await library.session(id);
      await recordTitle(id, title, actor);
    })();
    writing.set(id, mine);
    try {
      await mine;
    } finally {
      if (writing.get(id) === mine) writing.delete(id);
    }
  }

  async function told(id: string): Promise<SessionRow> {
    const session = await library.session(id);
    options.append({ type: "session_updated", session });
    return session;
  }

  /** The session's folder, once it is one that this actor may look into. */
  async function folderOf(id: string, actor: Actor): Promise<string> {
    const cwd = store.findAgent(id)?.tab.cwd ?? (await library.session(id)).cwd;
    if (cwd === null)
      throw new SallyportError("not_found", "It is not known which folder this session belongs to.");
    const root = actor.has("admin") ? null : options.browseRoot();
    return resolveFolder(cwd, options.bounds(root), "path");
  }

  return {
    get: (id) => library.session(id),
    list: (max) => library.newestSessions(max),
    async update({ session: id, title, pinned, archived }, actor) {
      committing(actor)();
      // Whoever asks for a title later is written later: nothing is waited for before it has its place.
      if (title === undefined) await library.session(id);
      else await setTitle(id, title, actor);
      if (pinned !== undefined || archived !== undefined)
        await flags.set(
          id,
          { ...(pinned === undefined ? {} : { pinned }), ...(archived === undefined ? {} : { archived }) },
          committing(actor),
        );
      return told(id);
    },
    async regenerateTitle(id, actor) {
      committing(actor)();
      const { prompt } = await library.session(id);
      const title = cleanLabel(prompt ?? "", limits.labelChars);
      if (title === "")
        throw new SallyportError("invalid_field", "This session has no prompt yet to make a title of.", {
          field: "session",
        });
      await setTitle(id, title, actor);
      await told(id);
      return title;
    },
    async clear({ agent: id }, actor) {
      await clearContext(options, id, actor);
      const row = agents.agentRow(id);
      if (!row) throw noAgent();
      return row;
    },
    async setThinking({ agent: id, thinking }, actor) {
      committing(actor)();
      const place = store.findAgent(id);
      if (!place || agents.peek(id)?.closing) throw noAgent();
      const { runtime } = options.runtimeFor(place.agent.runtime, place.agent.model, place.tab);
      const chosen = thinking === null ? null : chooseThinking(runtime, thinking, place.agent.model);
      const agent = agents.get(id);
      if ((place.agent.thinking ?? null) !== chosen) {
        await options.recover(agent);
        await orRefuse(options.sequence.ensure());
        await workspaces.changeAgent(id, (doc) => ({ ...doc, thinking: chosen }), committing(actor));
        await agent.transcript.record([{ type: "thinking_changed", thinking: chosen }], { owe: true });
        if (!agent.current) await agent.transcript.release();
        agents.announceAgent(id);
      }
      const row = agents.agentRow(id);
      if (!row) throw noAgent();
      return row;
    },
    submit: (command, actor) => options.prompts.prompt(command, actor, ownerOf(command.agent)),
    receipt: (session, requestId) => options.receipts.settledView(ownerOf(session), requestId),
    async unload(id) {
      const agent = agents.peek(id);
      if (!agent || agent.current || agent.next || agent.closing || !agent.live) return;
      agent.live = false;
      agents.announceAgent(id);
      await agent.transcript.release();
      // It may have been prompted in between.
      if (agent.current || agent.live) return;
      const runtime = options.runtimes.get(store.findAgent(id)?.agent.runtime ?? "");
      await runtime?.release?.(id);
    },
    async projects() {
      const found = new Map<string, { sessions: number; usedMs: number | null }>();
      for (const row of await library.allSessions()) {
        if (row.cwd === null || row.parent !== null) continue;
        const known = found.get(row.cwd) ?? { sessions: 0, usedMs: null };
        known.sessions += 1;
        known.usedMs = Math.max(known.usedMs ?? 0, row.updated_ms);
        found.set(row.cwd, known);
      }
      for (const { cwd } of store.list().flatMap((doc) => doc.tabs))
        if (!found.has(cwd)) found.set(cwd, { sessions: 0, usedMs: null });
      return [...found]
        .map(([cwd, facts]) => ({ cwd, ...facts }))
        .sort((a, b) => (b.usedMs ?? 0) - (a.usedMs ?? 0) || (a.cwd < b.cwd ? -1 : 1));
    },
    async listFolder({ session, path }, actor) {
      const root = await folderOf(session, actor);
      const bounds = { ...options.bounds(null), browseRoot: root };
      return listFolder({ path: pathBelow(root, path), files: true }, bounds);
    },
    async previewFile({ session, path, maxBytes }, actor) {
      const root = await folderOf(session, actor);
      const { homeFolder } = options.bounds(null);
      const preview = await previewFile(pathBelow(root, path), { homeFolder, browseRoot: root }, maxBytes);
      return { path, ...preview };
    },
  };
}

/** Receipts of a session are kept beside those of principals, whose keys are ids of devices and `local`. */
function ownerOf(session: string): string {
  return `session:${session}`;
}

function chooseThinking(runtime: Runtime, thinking: string, model: string | null): string | null {
  if (!runtime.chooseThinking)
    throw new SallyportError("not_supported", `The runtime ${runtime.name} has no levels of thinking.`, {
      field: "thinking",
    });
  return runtime.chooseThinking(thinking, model);
}

function closing(): SallyportError {
  return new SallyportError("conflict", "This agent is being closed; try again.", { reason: "busy" });
}
