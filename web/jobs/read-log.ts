import { AnswerError } from "../../src/client/answer-error.ts";
import type { Rest } from "../../src/client/rest.ts";
import { limits } from "../../src/protocol/limits.ts";
import type { JobOutput } from "../../src/protocol/objects.ts";

/** A character of UTF-8 has four bytes at most: one of as many offsets is no place inside of one. */
const bytesOfACharacter = 4;

/** A chunk of a job's log from `offset`, in bytes, of `maxBytes` at most; both at the edge of a character. */
export function readChunk(
  rest: Rest,
  job: string,
  offset: number,
  maxBytes: number = limits.jobOutputBytes,
): Promise<JobOutput> {
  const limit = Math.max(limits.jobOutputMinBytes, Math.min(limits.jobOutputBytes, maxBytes));
  return rest.body<JobOutput>("GET", `/api/jobs/${job}/output?offset=${offset}&limit=${limit}`);
}

/** How many bytes the log has at the moment. */
export async function logSize(rest: Rest, job: string): Promise<number> {
  return (await readChunk(rest, job, 0, limits.jobOutputMinBytes)).size;
}

/** The first offset from `wantedBytes` on that is not inside a character. Throws what the daemon refused. */
export async function boundaryFrom(rest: Rest, job: string, wantedBytes: number): Promise<number> {
  for (let offset = wantedBytes; ; offset += 1) {
    try {
      await rest.request("GET", `/api/jobs/${job}/output?offset=${offset}&limit=${bytesOfACharacter}`);
      return offset;
    } catch (error) {
      const isInside = error instanceof AnswerError && error.body.code === "invalid_field";
      if (!isInside || offset - wantedBytes >= bytesOfACharacter) throw error;
    }
  }
}

/**
 * The whole log as a file, as long as it is at the beginning: a job that prints faster than this reads has no end. Pieces
 * go into blobs as they come, which a browser keeps on disk.
 *
 * @param onProgress hears the share that is there, 0 to 1
 * @param signal ends it; then it rejects with the signal's reason
 */
export async function readWholeLog(
  rest: Rest,
  job: string,
  onProgress: (share: number) => void,
  signal: AbortSignal,
): Promise<Blob> {
  const parts: Blob[] = [];
  let texts: string[] = [];
  let offset = 0;
  let endBytes: number | null = null;
  for (;;) {
    signal.throwIfAborted();
    const chunk = await readChunk(rest, job, offset);
    texts.push(chunk.output);
    offset = chunk.next_offset;
    endBytes ??= chunk.size;
    onProgress(endBytes === 0 ? 1 : Math.min(1, offset / endBytes));
    // Nothing new: what is missing is the beginning of a character whose rest was not printed yet.
    const isEnd = offset >= endBytes || chunk.done || chunk.output === "";
    if (isEnd || texts.length >= chunksOfABlob) {
      parts.push(new Blob(texts));
      texts = [];
    }
    if (isEnd) return new Blob(parts, { type: "text/plain;charset=utf-8" });
  }
}

const chunksOfABlob = 64;
