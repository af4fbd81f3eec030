import { SallyportError } from "../../errors.ts";
import { writeFileAtomic } from "../../lib/atomic-file.ts";
import { type Jsonl, openJsonl } from "../../lib/jsonl.ts";
import { readJsonl } from "../../lib/jsonl-read.ts";
import { StateFileError } from "../../lib/state-file.ts";
import { asDiskRefusal, orRefuse } from "../disk-refusal.ts";
import { engineLimits } from "../engine-limits.ts";
import type { PromptReceipt, ReceiptView } from "./prompt-receipt.ts";
import {
  isFinalRefusal,
  isOfNewerVersion,
  parseReceiptRecord,
  type ReceiptPlace,
  type ReceiptRecord,
  refusalOf,
} from "./receipt-records.ts";
import { createReceiptTable, type Receipt } from "./receipt-table.ts";

/** Lines more than twice the live ones, plus this, and the file is written anew. */
const compactSlackLines = 5_000;

/** Given to the one attempt that a `request_id` has. */
export interface ReceiptTicket {
  /** Puts on disk where the prompt is going, before the turn's first record is written. Throws `disk_full`. */
  intend(place: ReceiptPlace, seq: number, beforeWrite: () => void): Promise<void>;
}

export interface ReceiptStore {
  /**
   * Runs `attempt` once per owner and `request_id`, however often and concurrently it is called; everybody gets the
   * outcome of the first. A refusal that depends on the moment is forgotten, any other is the receipt.
   */
  once(
    owner: string,
    requestId: string,
    attempt: (ticket: ReceiptTicket) => Promise<PromptReceipt>,
  ): Promise<PromptReceipt>;
  view(owner: string, requestId: string): ReceiptView;
  /** The view once an attempt that runs now has ended: `unknown` then means that there was none. */
  settledView(owner: string, requestId: string): Promise<ReceiptView>;
  close(): Promise<void>;
}

export interface ReceiptStoreOptions {
  readonly path: string;
  readonly now: () => number;
  readonly report: (problem: string) => void;
  /** Looks up an intent that a crash left open: was the turn's first record, or its reservation, written? */
  readonly wasAccepted: (intent: ReceiptPlace & { readonly seq: number }) => Promise<boolean>;
}

/**
 * Opens `receipts.jsonl`, settles what a crash left open, and writes the file anew when most of it is out of date. Throws
 * `StateFileError` for one of a newer version or of a size that is no sense: without its receipts a prompt could run twice.
 */
export async function openReceiptStore(options: ReceiptStoreOptions): Promise<ReceiptStore> {
  const table = createReceiptTable(options.now);
  const inFlight = new Map<string, Promise<PromptReceipt>>();
  /** Intents of attempts that run now: on disk, but not in the table yet. */
  const openIntents = new Map<string, ReceiptRecord>();
  const intents = new Map<string, ReceiptRecord & { readonly status: "intent" }>();
  const bounds = {
    maxLineBytes: engineLimits.receiptLineBytes,
    maxFileBytes: engineLimits.receiptFileBytes,
  };
  const read = await readJsonl(options.path, bounds, (raw) => {
    if (isOfNewerVersion(raw))
      throw unusableReceipts(
        options.path,
        "a newer version of Sallyport wrote it",
        "Update Sallyport, or set",
      );
    const record = parseReceiptRecord(raw);
    if (!record) return;
    const key = keyOf(record.owner, record.request_id);
    if (record.status === "intent") {
      intents.set(key, record);
      return;
    }
    intents.delete(key);
    const receipt = toReceipt(record);
    if (receipt) table.set(record.owner, record.request_id, receipt);
  }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "EFBIG" ? unusableReceipts(options.path, "it is far too large") : error;
  });
  if (read && read.damaged > 0)
    options.report(`${options.path}: ${read.damaged} damaged lines were skipped.`);
  let lines = read?.lines ?? 0;
  for (const intent of intents.values()) {
    if (await mayBeAccepted(intent))
      table.set(intent.owner, intent.request_id, { at: intent.at, status: "accepted", place: intent });
  }
  /** A transcript that cannot be read may hold the turn: then the prompt must not run again. */
  async function mayBeAccepted(intent: ReceiptPlace & { readonly seq: number }): Promise<boolean> {
    try {
      return await options.wasAccepted(intent);
    } catch (error) {
      options.report(
        `the receipt of turn ${intent.turn} could not be looked up: ${(error as Error).message}`,
      );
      return true;
    }
  }

  // If this fails, the intents stay in the file and are looked up again at the next start.
  if (intents.size > 0 || needsCompaction()) await compact();

  let current: Jsonl | null = null;
  let opening: Promise<Jsonl> | null = null;

  function needsCompaction(): boolean {
    return lines > 2 * table.size + compactSlackLines;
  }

  async function open(after?: Jsonl): Promise<Jsonl> {
    try {
      if (after) {
        await after.close();
        await compact();
      }
      current = await openJsonl({ path: options.path, maxLineBytes: engineLimits.receiptLineBytes });
      return current;
    } finally {
      opening = null;
    }
  }

  async function write(record: ReceiptRecord, sync: boolean, beforeWrite?: () => void): Promise<void> {
    if (!current) opening ??= open();
    const jsonl = current ?? (await opening);
    if (!jsonl) throw new TypeError("the receipts are closed");
    await jsonl.append([record], { sync, ...(beforeWrite ? { beforeWrite } : {}) });
    lines += 1;
    if (current && needsCompaction()) {
      const full = current;
      current = null;
      opening = open(full);
      opening.catch((error: Error) => {
        options.report(`${options.path} could not be opened again: ${error.message}`);
      });
    }
  }

  async function compact(): Promise<void> {
    const kept = [
      ...table.entries().map(({ owner, requestId, receipt }) => toRecord(owner, requestId, receipt)),
      ...openIntents.values(),
    ];
    try {
      await writeFileAtomic(options.path, kept.map((record) => `${JSON.stringify(record)}\n`).join(""));
      lines = kept.length;
    } catch (error) {
      options.report(`${options.path} could not be written anew: ${(error as Error).message}`);
      // Not again at every line: the file may double first.
      lines = 0;
    }
  }

  /** Notes an outcome that memory has already; if the disk refuses, a restart works it out again or forgets it. */
  async function note(record: ReceiptRecord, sync: boolean): Promise<void> {
    await write(record, sync).catch((error: Error) => {
      options.report(`${options.path} could not be written: ${error.message}`);
    });
  }

  async function attemptOnce(
    owner: string,
    requestId: string,
    attempt: (ticket: ReceiptTicket) => Promise<PromptReceipt>,
  ): Promise<PromptReceipt> {
    const key = { owner, request_id: requestId };
    let intended = false;
    try {
      const receipt = await attempt({
        async intend(place, seq, beforeWrite) {
          const intent = { ...key, at: options.now(), status: "intent", seq, ...place } as const;
          openIntents.set(keyOf(owner, requestId), intent);
          intended = true;
          await orRefuse(write(intent, true, beforeWrite));
        },
      });
      const { workspace, tab, agent, turn } = receipt;
      const place = { workspace, tab, agent, turn };
      const at = options.now();
      table.set(owner, requestId, { at, status: "accepted", place });
      // The intent and the turn's record are on disk and suffice; this line only saves the look-up.
      void note({ ...key, at, status: "accepted", ...place }, false);
      return receipt;
    } catch (thrown) {
      const error = asDiskRefusal(thrown);
      const at = options.now();
      if (isFinalRefusal(error)) {
        const refusal = refusalOf(error);
        table.set(owner, requestId, { at, status: "rejected", error: refusal });
        await note({ ...key, at, status: "rejected", error: refusal }, true);
      } else if (intended) await note({ ...key, at, status: "dropped" }, false);
      throw error;
    } finally {
      openIntents.delete(keyOf(owner, requestId));
    }
  }

  function view(owner: string, requestId: string): ReceiptView {
    const known = table.get(owner, requestId);
    return {
      request_id: requestId,
      status: known?.status ?? "unknown",
      agent: known?.status === "accepted" ? known.place.agent : null,
      turn: known?.status === "accepted" ? known.place.turn : null,
      message: known?.status === "rejected" ? known.error.message : null,
    };
  }

  return {
    async once(owner, requestId, attempt) {
      const key = keyOf(owner, requestId);
      const running = inFlight.get(key);
      if (running) return running;
      const known = table.get(owner, requestId);
      if (known) return replay(known, requestId);
      if (inFlight.size >= engineLimits.receiptsInFlight)
        throw new SallyportError("overloaded", "Too many prompts at once; try again.");
      const outcome = attemptOnce(owner, requestId, attempt).finally(() => inFlight.delete(key));
      inFlight.set(key, outcome);
      return outcome;
    },
    view,
    async settledView(owner, requestId) {
      // Its failure is told to whoever sent it.
      await inFlight.get(keyOf(owner, requestId))?.catch(() => undefined);
      return view(owner, requestId);
    },
    async close() {
      await Promise.allSettled(inFlight.values());
      await opening?.catch(() => undefined);
      await current?.close();
    },
  };
}

function unusableReceipts(path: string, problem: string, step = "Set"): StateFileError {
  return new StateFileError(
    `${path}: ${problem}. It was left as it is. ${step} it aside (mv ${path} ${path}.aside): prompts of that time are then not recognised when they are sent again.`,
  );
}

function keyOf(owner: string, requestId: string): string {
  return JSON.stringify([owner, requestId]);
}

function replay(receipt: Receipt, requestId: string): PromptReceipt {
  if (receipt.status === "rejected")
    throw new SallyportError(receipt.error.code, receipt.error.message, receipt.error);
  const { workspace, tab, agent, turn } = receipt.place;
  return { request_id: requestId, status: "accepted", workspace, tab, agent, turn };
}

function toReceipt(record: ReceiptRecord): Receipt | null {
  if (record.status === "accepted") return { at: record.at, status: "accepted", place: record };
  if (record.status === "rejected") return { at: record.at, status: "rejected", error: record.error };
  return null;
}

function toRecord(owner: string, requestId: string, receipt: Receipt): ReceiptRecord {
  const key = { owner, request_id: requestId, at: receipt.at };
  if (receipt.status === "rejected") return { ...key, status: "rejected", error: receipt.error };
  const { workspace, tab, agent, turn } = receipt.place;
  return { ...key, status: "accepted", workspace, tab, agent, turn };
}
