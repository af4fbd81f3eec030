/** Draws as often as the page can bear. */
export interface Pace {
  /** Draws what there is then, with one of the next frames; once, however often it is called until then. */
  drawSoon(): void;
  /** The same; resolves when it was drawn. */
  drawn(): Promise<void>;
  stop(): void;
}

/** So much of the time is left to everything else: for each millisecond of drawing. */
const restShare = 2;
const maxRestMs = 500;

/** Calls `draw` in a frame, and then not again before the page had twice the time that it took for other things. */
export function createPace(draw: () => void): Pace {
  let isDue = false;
  let isDrawing = false;
  let isStopped = false;
  let nextMs = 0;
  let waiting: (() => void)[] = [];

  function release(done: readonly (() => void)[]): void {
    for (const resolve of done) resolve();
  }
  function schedule(): void {
    const restMs = nextMs - performance.now();
    if (restMs > 0) setTimeout(() => requestAnimationFrame(frame), restMs);
    else requestAnimationFrame(frame);
  }
  function frame(): void {
    if (isStopped) return;
    const beganMs = performance.now();
    const done = waiting;
    waiting = [];
    isDue = false;
    isDrawing = true;
    draw();
    // Components are drawn after this, and put on the screen after that: the next task comes when both are done.
    setTimeout(() => {
      const nowMs = performance.now();
      nextMs = nowMs + Math.min(maxRestMs, restShare * (nowMs - beganMs));
      isDrawing = false;
      release(done);
      if (isDue && !isStopped) schedule();
    });
  }
  function drawSoon(): void {
    if (isDue || isStopped) return;
    isDue = true;
    if (!isDrawing) schedule();
  }
  return {
    drawSoon,
    drawn() {
      if (isStopped) return Promise.resolve();
      const drawn = new Promise<void>((resolve) => waiting.push(resolve));
      drawSoon();
      return drawn;
    },
    stop() {
      isStopped = true;
      release(waiting);
      waiting = [];
    },
  };
}
