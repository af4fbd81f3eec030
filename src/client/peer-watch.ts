export interface PeerWatchOptions {
  /** Silence after which the other side is asked. */
  readonly quietMs: number;
  /** How long it may take to answer. */
  readonly answerMs: number;
  /** Sends a ping; any message that comes counts as the answer. */
  readonly ping: () => void;
  readonly dead: () => void;
}

export interface PeerWatch {
  /** Something arrived. Cheap: called for every message. */
  heard(): void;
  /** Asks now, and believes a silent peer only `answerMs` longer: for a machine or page that slept. */
  ask(answerMs: number): void;
  stop(): void;
}

/**
 * Notices a peer that is gone without a word. The daemon's ping frames are answered by the platform, which shows them to
 * nobody; so whoever has heard nothing for a while asks.
 */
export function watchPeer(options: PeerWatchOptions): PeerWatch {
  let heardSince = false;
  let timer = setTimeout(onQuiet, options.quietMs);

  function onQuiet(): void {
    if (heardSince) {
      heardSince = false;
      timer = setTimeout(onQuiet, options.quietMs);
    } else ask(options.answerMs);
  }

  function ask(answerMs: number): void {
    clearTimeout(timer);
    heardSince = false;
    timer = setTimeout(onNoAnswer, answerMs);
    options.ping();
  }

  function onNoAnswer(): void {
    if (heardSince) onQuiet();
    else options.dead();
  }

  return {
    heard() {
      heardSince = true;
    },
    ask,
    stop() {
      clearTimeout(timer);
    },
  };
}
