import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { isJobId } from "../lib/ids.ts";
import type { JobOutput } from "../protocol/objects.ts";

const chunkBytes = 64 * 1024;

/** A job's log from its beginning, chunk by chunk. An empty chunk: nothing more for now. */
export interface JobLog {
  next(): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** Reads one chunk over the protocol. */
export type ReadJobOutput = (offset: number) => Promise<JobOutput>;

/**
 * Opens a job's log. On the job's own machine the file itself is read, because the protocol carries text and a job may
 * print any bytes; where it cannot be opened, or is elsewhere (null), the protocol is.
 */
export async function openJobLog(
  jobsFolder: string | null,
  job: string,
  read: ReadJobOutput,
): Promise<JobLog> {
  const handle =
    jobsFolder !== null && isJobId(job)
      ? await open(join(jobsFolder, `${job}.log`), constants.O_RDONLY | constants.O_NOFOLLOW).catch(
          () => null,
        )
      : null;
  return handle === null ? protocolLog(read) : fileLog(handle);
}

function fileLog(handle: FileHandle): JobLog {
  const buffer = Buffer.alloc(chunkBytes);
  let offset = 0;
  return {
    async next() {
      const { bytesRead } = await handle.read(buffer, 0, chunkBytes, offset);
      offset += bytesRead;
      return buffer.subarray(0, bytesRead);
    },
    close: () => handle.close(),
  };
}

function protocolLog(read: ReadJobOutput): JobLog {
  let offset = 0;
  return {
    async next() {
      const chunk = await read(offset);
      offset = chunk.next_offset;
      return Buffer.from(chunk.output, "utf8");
    },
    close: () => Promise.resolve(),
  };
}
