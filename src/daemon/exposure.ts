import type { AuditSink } from "../auth/audit.ts";
import { SallyportError } from "../errors.ts";
import type { Log } from "../lib/log.ts";
import type { Access, By } from "../protocol/objects.ts";
import type { StateStore } from "./daemon-state.ts";

/** The network side of the main door. */
export interface NetworkSide {
  /** Opens it beside the loopback side. Rejects with a text for the user when it cannot be (certificate, port, address). */
  open(): Promise<void>;
  close(): Promise<void>;
}

export interface ExposureOptions {
  readonly state: StateStore;
  readonly network: NetworkSide;
  /** Ends at once whatever came in from outside and may not any more: all of it, or only what came over the network. */
  readonly closeRemote: (which: "all" | "network") => void;
  /** Called after every change that took effect. */
  readonly onChange: () => void;
  readonly audit: AuditSink;
  readonly log: Log;
  /** Between tries to write what the disk refused. */
  readonly retryMs: number;
}

export interface Exposure {
  /** As it is in effect; the gate asks for every request. */
  readonly access: Access;
  /**
   * Changes it. Opening counts once it is on disk; closing counts at once, and is written afterwards: if the disk refuses,
   * it is closed all the same, the promise rejects and the write is tried again.
   *
   * @param by null: the daemon itself, e.g. because a tunnel ended
   */
  set(access: Access, by: By | null): Promise<void>;
  /** What was set at run time before the last end of the daemon takes effect again. Yields why it could not, or null. */
  restore(): Promise<string | null>;
  /** Does something during which exposure does not change. */
  undisturbed<T>(work: () => Promise<T>): Promise<T>;
  /** Takes no further change and waits for the one under way. What is open is closed with the gateway, and remembered. */
  close(): Promise<void>;
}

/** The one place that decides how far this daemon can be reached: `off`, `tunnel` (doors) or `on` (the network too). */
export function createExposure(options: ExposureOptions): Exposure {
  const { state, network, log } = options;
  let access: Access = "off";
  let networkOpen = false;
  let tail: Promise<unknown> = Promise.resolve();
  let retry: NodeJS.Timeout | null = null;
  let closed = false;

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = tail.then(work);
    tail = result.catch(() => undefined);
    return result;
  }

  async function openNetwork(): Promise<void> {
    if (networkOpen) return;
    await network.open();
    networkOpen = true;
  }

  async function closeNetwork(): Promise<void> {
    if (!networkOpen) return;
    networkOpen = false;
    await network.close();
  }

  function persist(next: Access): Promise<void> {
    if (retry) clearTimeout(retry);
    retry = null;
    return state.update({ access: next });
  }

  /** The closed state must not come back open after a restart: what the disk refused is tried until it takes it. */
  function persistLater(): void {
    retry = setTimeout(() => {
      persist(access).catch(persistLater);
    }, options.retryMs);
    retry.unref();
  }

  async function widen(next: Access): Promise<void> {
    const before = access;
    if (next === "on") await openNetwork();
    try {
      await persist(next);
    } catch (error) {
      if (before !== "on") await closeNetwork();
      // Memory and disk must agree on the narrower one, which the disk still holds.
      await state.update({ access: before }).catch(persistLater);
      throw diskRefused("Remote access stays as it was", error);
    }
    access = next;
  }

  async function narrow(next: Access): Promise<void> {
    access = next;
    options.closeRemote(next === "off" ? "all" : "network");
    await closeNetwork();
    try {
      await persist(next);
    } catch (error) {
      persistLater();
      throw diskRefused("Remote access is closed now, but may be open again after a restart", error);
    }
  }

  async function change(next: Access, by: By | null): Promise<void> {
    if (closed) throw new SallyportError("overloaded", "The daemon is stopping; try again when it is back.");
    const before = access;
    if (next === before) {
      if (state.current.access !== next) await persist(next);
      return;
    }
    try {
      await (rank[next] > rank[before] ? widen(next) : narrow(next));
    } finally {
      if (access !== before) {
        options.audit({ type: "exposure_changed", from: before, to: access, by });
        log.info({ from: before, to: access, by: by?.name ?? null }, "exposure changed");
        options.onChange();
      }
    }
  }

  return {
    get access() {
      return access;
    },
    set: (next, by) => inTurn(() => change(next, by)),
    restore: () =>
      inTurn(async () => {
        const kept = state.current.access;
        if (kept === "off") return null;
        try {
          if (kept === "on") await openNetwork();
          access = kept;
          return null;
        } catch (error) {
          // Closed, but still remembered as open: it comes back when what stands in the way is gone.
          log.error({ err: error }, "remote access could not be restored");
          return error instanceof Error ? error.message : String(error);
        }
      }),
    undisturbed: inTurn,
    close() {
      closed = true;
      return inTurn(async () => {
        if (retry) clearTimeout(retry);
      });
    },
  };
}

const rank: Readonly<Record<Access, number>> = { off: 0, tunnel: 1, on: 2 };

function diskRefused(what: string, cause: unknown): SallyportError {
  const code = (cause as NodeJS.ErrnoException).code;
  return new SallyportError(
    code === "ENOSPC" || code === "EDQUOT" ? "disk_full" : "internal",
    `${what}: the disk refuses to keep it (${code ?? "unknown"}). Make room, then try again.`,
    { cause },
  );
}
