export interface PacedFramesOptions {
  readonly now: () => number;
  readonly requestFrame: (work: () => void) => void;
  readonly setTimer: (work: () => void, ms: number) => void;
}

/** A frame's work is done again only after this many times what it took: most of the time stays for the reader. */
const restTimes = 3;
const maxRestMs = 300;
/** Frames stop while the page is hidden. */
const hiddenMs = 250;

/**
 * A scheduler for what is drawn once a frame, and less often where a frame's work takes long: on a slow phone in a flood
 * of events, typing comes first.
 */
export function createPacedFrames(
  options: PacedFramesOptions & { readonly isHidden: () => boolean },
): (work: () => void) => void {
  const { now, requestFrame, setTimer, isHidden } = options;
  let restsUntilMs = 0;

  return (work) => {
    const inFrame = (): void => {
      const startedMs = now();
      work();
      // Behind the drawing that the work led to.
      setTimer(() => {
        const tookMs = now() - startedMs;
        restsUntilMs = startedMs + tookMs + Math.min(maxRestMs, tookMs * restTimes);
      }, 0);
    };
    if (isHidden()) setTimer(work, hiddenMs);
    else if (restsUntilMs <= now()) requestFrame(inFrame);
    else setTimer(() => requestFrame(inFrame), restsUntilMs - now());
  };
}
