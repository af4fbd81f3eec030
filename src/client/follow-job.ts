import type { JobOutput } from "../protocol/objects.ts";
import { AnswerError, UnreachableError } from "./answer-error.ts";
import type { Client } from "./client.ts";

/** A look now and then, in case that what was to tell of more was lost on the way. */
const lookAgainMs = 5_000;

/**
 * A job's output from `offset` (bytes of its log) to its end, chunk by chunk, over lost connections. Reads only as fast as
 * the caller takes. Throws `AnswerError` when there is no such job, `StoppedError` when the client stops for good.
 */
export async function* followJob(
  client: Client,
  job: string,
  options: { readonly offset?: number } = {},
): AsyncGenerator<JobOutput, void, void> {
  let offset = options.offset ?? 0;
  let mustFollow = true;
  let wake: () => void = () => undefined;
  let hasNews = true;
  const news = (): void => {
    hasNews = true;
    wake();
  };
  const stops = [
    client.onJobMore((more) => more.job === job && news()),
    client.onChange((change) => change.type === "job_finished" && change.job.id === job && news()),
    client.onStatus(() => {
      mustFollow = true;
      news();
    }),
  ];
  const wait = async (): Promise<void> => {
    if (hasNews) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, lookAgainMs);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  };

  try {
    for (;;) {
      hasNews = false;
      const chunk = await read();
      if (chunk !== null && chunk.output !== "") {
        offset = chunk.next_offset;
        hasNews = true;
        yield chunk;
      }
      if (chunk?.done) return;
      await wait();
    }
  } finally {
    for (const stop of stops) stop();
    // Nobody reads any more; where there is no connection nothing is followed.
    client.command({ type: "job_follow", job, on: false }).catch(() => undefined);
  }

  /** Null while there is no connection. */
  async function read(): Promise<JobOutput | null> {
    if (client.status.phase === "stopped") await client.command({ type: "ping" });
    try {
      if (mustFollow) {
        mustFollow = false;
        await client.command({ type: "job_follow", job, on: true });
      }
      return await client.command({ type: "job_output", job, offset });
    } catch (error) {
      mustFollow = true;
      if (error instanceof AnswerError && error.body.code === "rate_limited") return null;
      if (!(error instanceof UnreachableError) || client.status.phase === "stopped") throw error;
      return null;
    }
  }
}
