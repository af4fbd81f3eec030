import { SallyportError } from "../errors.ts";
import { writeFileAtomic } from "../lib/atomic-file.ts";
import { createSecretFile } from "../lib/create-secret-file.ts";
import { createRetryingWriter, writeRefused } from "../lib/retrying-writer.ts";
import { readSecretFile } from "../lib/secret-file.ts";
import {
  formatPushFile,
  maxSubscriptions,
  newVapidKeys,
  parsePushFile,
  type StoredSubscription,
  type VapidKeys,
} from "./push-file.ts";

/** One phone with a browser and an installed page has two; more are left over from earlier ones. */
export const maxPerDevice = 4;
const maxFileBytes = 8 * 1024 * 1024;

export interface PushStoreOptions {
  readonly path: string;
  readonly onProblem: (problem: unknown) => void;
  readonly writeFile?: (path: string, text: string) => Promise<void>;
}

/** The subscriptions and the key pair: memory is the truth, `push.json` follows it. */
export interface PushStore {
  /** Why the file cannot be used; push is off then, and the file is left as it is. */
  readonly problem: string | null;
  list(): readonly StoredSubscription[];
  /** The key pair, made and written when it is first needed. */
  keys(): Promise<VapidKeys>;
  /**
   * Adds or replaces a subscription, on disk when it resolves; a refused write takes it back. The device's oldest makes
   * room. Returns those that had to go.
   */
  put(subscription: StoredSubscription): Promise<readonly StoredSubscription[]>;
  /** Takes subscriptions out: in memory at once, on disk when it resolves. */
  remove(ids: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** Opens `push.json`. A missing one is made when it is needed; one that cannot be used is a `problem`, and never overwritten. */
export async function openPushStore(options: PushStoreOptions): Promise<PushStore> {
  const { path, writeFile = writeFileAtomic } = options;
  const read = await readPushFile(path);
  const subscriptions = new Map((read.file?.subscriptions ?? []).map((each) => [each.id, each]));
  let vapid = read.file?.vapid ?? null;
  let making: Promise<VapidKeys> | null = null;

  const writer = createRetryingWriter({
    async write() {
      if (vapid === null) return;
      await writeFile(path, formatPushFile({ vapid, subscriptions: [...subscriptions.values()] }));
    },
    onFailure: options.onProblem,
  });

  async function makeKeys(): Promise<VapidKeys> {
    const made = newVapidKeys();
    await createSecretFile(path, formatPushFile({ vapid: made, subscriptions: [] })).catch(
      (error: unknown) => {
        throw writeRefused(error, "push.json could not be written. Free some disk space and try again.");
      },
    );
    vapid = made;
    return made;
  }

  /** Room for one more of the device. Nobody else's go for it. */
  function makeRoom(device: string): StoredSubscription[] {
    const own = [...subscriptions.values()].filter((each) => each.device === device);
    const gone = own.slice(0, Math.max(0, own.length - maxPerDevice + 1));
    if (subscriptions.size - gone.length >= maxSubscriptions)
      throw new SallyportError(
        "overloaded",
        `${maxSubscriptions} subscriptions are kept, which is the most.`,
      );
    return gone;
  }

  return {
    problem: read.problem,
    list: () => [...subscriptions.values()],
    async keys() {
      if (vapid !== null) return vapid;
      making ??= makeKeys().finally(() => {
        making = null;
      });
      return making;
    },
    async put(subscription) {
      const before = subscriptions.get(subscription.id);
      const gone = before ? [] : makeRoom(subscription.device);
      for (const { id } of gone) subscriptions.delete(id);
      subscriptions.set(subscription.id, subscription);
      try {
        await writer.save();
      } catch (error) {
        // The next write takes the memory as it is now; those that went stay away.
        if (before) subscriptions.set(before.id, before);
        else subscriptions.delete(subscription.id);
        throw writeRefused(error, "The subscription could not be saved. Free some disk space and try again.");
      }
      return gone;
    },
    async remove(ids) {
      const found = ids.filter((id) => subscriptions.delete(id));
      if (found.length === 0) return;
      await writer.save().catch((error: unknown) => {
        throw writeRefused(
          error,
          "The subscription is out, but the disk refused to note it: it is tried again. Free some disk space.",
        );
      });
    },
    // The writer has reported why; there is nobody left to tell.
    close: () => writer.close().catch(() => undefined),
  };
}

async function readPushFile(path: string) {
  const read = await readSecretFile(path, maxFileBytes);
  if (!read.ok) {
    if (read.problem === "missing") return { file: null, problem: null };
    const step = read.problem === "readable_by_others" ? `Run: chmod 600 ${path}` : setAside(path);
    return { file: null, problem: `${path}: ${read.detail}. ${step}` };
  }
  const parsed = parsePushFile(read.text);
  if (parsed.ok) return { file: parsed.file, problem: null };
  return { file: null, problem: `${path}: ${parsed.problem}. ${setAside(path)}` };
}

function setAside(path: string): string {
  return `Restore it, or set it aside (mv ${path} ${path}.aside) and switch notifications on again on each device. Then restart the daemon.`;
}
