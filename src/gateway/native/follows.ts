import type { Engine } from "../../engine/engine.ts";
import { SallyportError } from "../../errors.ts";
import type { Connection } from "../sockets/connection.ts";
import { textFrame } from "../sockets/frame.ts";

const maxFollows = 64;

/** The jobs that one connection follows. */
export interface Follows {
  /** Starts or stops following; both may be repeated. Throws `not_found`, or `overloaded` beyond 64 jobs. */
  set(jobId: string, on: boolean): void;
  endAll(): void;
}

/** Sends `job_more` of followed jobs: the newest one only, if the client is slow. A follow ends with the job or the connection. */
export function createFollows(
  engine: Pick<Engine, "followJob">,
  connection: Pick<Connection, "sendLatest">,
): Follows {
  const stops = new Map<string, () => void>();
  let ended = false;

  function stop(jobId: string): void {
    const stopFollowing = stops.get(jobId);
    stops.delete(jobId);
    stopFollowing?.();
  }

  function start(jobId: string): void {
    let starting = true;
    let over = false;
    const deliver = (size: number, running: boolean): void => {
      connection.sendLatest(`job_more ${jobId}`, () =>
        textFrame(JSON.stringify({ type: "job_more", job: jobId, size, running })),
      );
    };
    const stopFollowing = engine.followJob(jobId, (size, running) => {
      over ||= !running;
      // The ack goes first, also where the engine has something to say at once.
      if (starting) queueMicrotask(() => deliver(size, running));
      else deliver(size, running);
      if (!running && !starting) stop(jobId);
    });
    starting = false;
    if (over) stopFollowing();
    else stops.set(jobId, stopFollowing);
  }

  return {
    set(jobId, on) {
      if (!on) stop(jobId);
      else if (!ended && !stops.has(jobId)) {
        if (stops.size >= maxFollows)
          throw new SallyportError(
            "overloaded",
            `A connection may follow ${maxFollows} jobs; stop one first.`,
          );
        start(jobId);
      }
    },
    endAll() {
      ended = true;
      for (const jobId of [...stops.keys()]) stop(jobId);
    },
  };
}
