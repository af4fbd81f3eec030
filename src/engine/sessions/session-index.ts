import { readdir, stat } from "node:fs/promises";
import { type Static, Type } from "typebox";
import { createChecker } from "../../lib/checker.ts";
import { isId } from "../../lib/ids.ts";
import { transcriptPath } from "../transcripts/transcript.ts";
import { createCacheFile } from "./cache-file.ts";
import { coalesced, forEachBounded } from "./coalesce.ts";
import { readFacts, type SessionFacts, SessionFactsSchema } from "./session-facts.ts";

const ending = ".jsonl";
const maxSessions = 200_000;
const readsAtOnce = 16;
/** Times of a folder are as coarse as the kernel's tick: one this young may be followed by a change of the same time. */
const youngFolderNs = 100_000_000n;

/** What is known of the transcripts of a folder, newest first. Built when first asked for; each look costs what changed. */
export interface SessionIndex {
  /** Looks for what has changed. Everything that was written before the call is in `rows` when it resolves. */
  refresh(): Promise<void>;
  /** Newest first. The array is never changed; a refresh makes a new one. */
  rows(): readonly SessionFacts[];
  get(id: string): SessionFacts | null;
  /** Notes that records were written to a transcript. */
  touch(id: string): void;
  /** Looks at these files again, whatever is known. True if any of them had changed. */
  recheck(ids: readonly string[]): Promise<boolean>;
  /** True when every file should be looked at again: programs of others may have written to them. */
  recheckAll(): Promise<void>;
  /** Writes the cache. */
  close(): Promise<void>;
}

export interface SessionIndexOptions {
  readonly folder: string;
  readonly cachePath: string;
  readonly report: (problem: string) => void;
  /** How long after a change the cache is written. */
  readonly saveAfterMs: number;
}

const CacheSchema = Type.Object({ version: Type.Literal(1), sessions: Type.Array(SessionFactsSchema) });
/** One value with a row for each session: walked, it would take seconds. */
const cacheForm = createChecker(CacheSchema, { walks: 0 });

/**
 * Reads nothing before the first look. The cache is a shortcut: without it, or damaged, every transcript is read once more.
 */
export function createSessionIndex(options: SessionIndexOptions): SessionIndex {
  const { folder } = options;
  const known = new Map<string, SessionFacts>();
  const touched = new Set<string>();
  let sorted: readonly SessionFacts[] | null = null;
  let loaded = false;
  let folderTimeNs: bigint | null = null;
  let unsaved = false;
  let saveTimer: NodeJS.Timeout | null = null;
  const cache = createCacheFile<Static<typeof CacheSchema>>({
    path: options.cachePath,
    parse: (value) => (cacheForm.check(value) ? value : null),
    report: options.report,
  });

  function changed(): void {
    sorted = null;
    unsaved = true;
    saveTimer ??= setTimeout(() => {
      saveTimer = null;
      void save();
    }, options.saveAfterMs).unref();
  }

  async function save(): Promise<void> {
    if (!unsaved) return;
    unsaved = false;
    await cache.write({ version: 1, sessions: [...known.values()] });
  }

  async function check(id: string): Promise<boolean> {
    const path = transcriptPath(folder, id);
    const before = known.get(id) ?? null;
    const found = await stat(path).catch(() => null);
    if (found && before && before.bytes === found.size && before.mtime_ms === found.mtimeMs) return false;
    // One that cannot be read (rights, a link) is not listed; the others are.
    const facts = found ? await readFacts(path, id, before).catch(() => null) : null;
    if (facts) known.set(id, facts);
    else if (!known.delete(id)) return false;
    changed();
    return true;
  }

  /** Names of transcripts that nothing is known of; forgets those that are gone. Null when nothing came or went. */
  async function newNames(): Promise<readonly string[] | null> {
    const folderStat = await stat(folder, { bigint: true });
    if (folderStat.mtimeNs === folderTimeNs) return null;
    const nowNs = BigInt(Date.now()) * 1_000_000n;
    folderTimeNs = nowNs - folderStat.mtimeNs > youngFolderNs ? folderStat.mtimeNs : null;
    const there = new Set<string>();
    for (const name of await readdir(folder)) {
      if (!name.endsWith(ending)) continue;
      const id = name.slice(0, -ending.length);
      if (isId(id) && there.size < maxSessions) there.add(id);
    }
    for (const id of known.keys()) {
      if (there.has(id)) continue;
      known.delete(id);
      changed();
    }
    return [...there].filter((id) => !known.has(id));
  }

  async function refresh(): Promise<void> {
    const isFirst = !loaded;
    if (isFirst) {
      for (const facts of (await cache.read())?.sessions ?? [])
        if (isId(facts.id)) known.set(facts.id, facts);
      loaded = true;
    }
    const names = await newNames();
    const ids = new Set(names ?? []);
    for (const id of touched) ids.add(id);
    touched.clear();
    // What the cache says was true once: each file is looked at when the process first asks.
    if (isFirst) for (const id of known.keys()) ids.add(id);
    await recheck([...ids]);
  }

  async function recheck(ids: readonly string[]): Promise<boolean> {
    let any = false;
    await forEachBounded(ids, readsAtOnce, async (id) => {
      if (await check(id)) any = true;
    });
    return any;
  }

  return {
    refresh: coalesced(refresh),
    rows() {
      sorted ??= [...known.values()].sort(newestFirst);
      return sorted;
    },
    get: (id) => known.get(id) ?? null,
    touch(id) {
      touched.add(id);
    },
    recheck,
    recheckAll: coalesced(async () => {
      await recheck([...known.keys()]);
    }),
    async close() {
      if (saveTimer) clearTimeout(saveTimer);
      saveTimer = null;
      await save();
    },
  };
}

/** The order of lists: by the time of the last record, then by id, so that a position in it is well defined. */
export function newestFirst(
  a: Pick<SessionFacts, "updated_ms" | "id">,
  b: Pick<SessionFacts, "updated_ms" | "id">,
): number {
  return b.updated_ms - a.updated_ms || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0);
}
