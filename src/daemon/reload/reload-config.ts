import type { Config } from "../../config/config.ts";
import { changedSettings, configInEffect, settingEffects } from "../../config/setting-effects.ts";
import type { Log } from "../../lib/log.ts";
import type { ChangeBody } from "../../protocol/changes.ts";
import type { LiveConfig } from "../live-config.ts";

/** A part of the daemon that has made ready what a new configuration asks of it. */
export interface PreparedChange {
  /** Makes it count. Must not fail. */
  commit(): void;
  /** Another part refused: everything is to be as it was. */
  abandon(): Promise<void> | void;
}

/** A change that needs no preparation. */
export function onCommit(commit: () => void): PreparedChange {
  return { commit, abandon: () => undefined };
}

export interface ConfigPart {
  /** Rejects with a text for the user when it cannot work with `next`. Null: there is nothing to do for it. */
  prepare(next: Config): Promise<PreparedChange | null>;
}

export interface ReloadOptions {
  /** Reads the file. Rejects with a text for the user that names file, line and key. */
  readonly load: () => Promise<Config>;
  readonly live: LiveConfig;
  /** In the order in which they are asked; what lets more callers in comes last. */
  readonly parts: readonly ConfigPart[];
  readonly announce: (change: ChangeBody) => void;
  readonly log: Log;
}

export interface ReloadConfig {
  /**
   * Reads the file again. All parts agree before anything counts; else the old configuration stays and a notice says why.
   * One at a time: a call during another one is done after it. Never rejects.
   *
   * @param asked a person asked for it, so it is answered even when nothing changed
   */
  run(asked: boolean): Promise<void>;
  /** Tells that the file is not taken over. */
  refuse(reason: string): void;
}

export function createReloadConfig(options: ReloadOptions): ReloadConfig {
  const { live, announce, log } = options;
  let tail: Promise<void> = Promise.resolve();
  let lastRead = live.current;

  function refuse(reason: string): void {
    log.warn({ reason }, "the new configuration is refused; the old one stays");
    announce({ type: "notice", message: `The new settings are refused, and the old ones stay. ${reason}` });
  }

  async function prepareAll(next: Config): Promise<readonly PreparedChange[]> {
    const prepared: PreparedChange[] = [];
    try {
      for (const part of options.parts) {
        const change = await part.prepare(next);
        if (change !== null) prepared.push(change);
      }
    } catch (error) {
      for (const change of prepared.reverse()) await abandon(change);
      throw error;
    }
    return prepared;
  }

  async function abandon(change: PreparedChange): Promise<void> {
    try {
      await change.abandon();
    } catch (error) {
      log.error({ err: error }, "a part of the daemon could not go back to its old settings");
    }
  }

  function commit(change: PreparedChange): void {
    try {
      change.commit();
    } catch (error) {
      log.error({ err: error }, "a part of the daemon did not take over its new settings");
    }
  }

  async function reload(asked: boolean): Promise<void> {
    let changed: readonly string[];
    try {
      const next = await options.load();
      changed = changedSettings(lastRead, next);
      if (changed.length === 0 && !asked) return;
      const prepared = await prepareAll(next);
      lastRead = next;
      live.replace(configInEffect(live.current, next));
      for (const change of prepared) commit(change);
    } catch (error) {
      refuse(error instanceof Error ? error.message : String(error));
      return;
    }
    log.info({ changed }, "the configuration was read again");
    announce({ type: "reloaded" });
    const late = changed.filter((key) => settingEffects[key]?.counts === "after stop and start");
    if (late.length > 0) announce({ type: "notice", message: lateNotice(late) });
  }

  return {
    run(asked) {
      tail = tail.then(() => reload(asked));
      return tail;
    },
    refuse,
  };
}

function lateNotice(keys: readonly string[]): string {
  return `The settings were read again, but these count only when the daemon is started afresh: ${keys.join(", ")}. Run: sallyport daemon stop, then: sallyport daemon start`;
}
