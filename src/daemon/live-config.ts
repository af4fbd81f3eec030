import type { Config } from "../config/config.ts";

/** The configuration that the daemon goes by. Whoever needs a setting asks for it when he needs it. */
export interface LiveConfig {
  readonly current: Config;
  replace(next: Config): void;
}

export function createLiveConfig(first: Config): LiveConfig {
  let current = first;
  return {
    get current() {
      return current;
    },
    replace(next) {
      current = next;
    },
  };
}
