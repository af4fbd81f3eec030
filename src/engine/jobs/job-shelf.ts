import { isJobId } from "../../lib/ids.ts";
import type { Job } from "../../protocol/objects.ts";
import { noJob } from "../not-found.ts";
import { isRunning, type JobEntry } from "./job-entry.ts";
import type { JobFiles } from "./job-files.ts";
import { jobOf } from "./job-record.ts";
import type { JobStore } from "./job-store.ts";
import type { Jobs } from "./jobs.ts";
import { checkLogRequest, readLog } from "./read-log.ts";

/** The jobs that clients see, of all that is kept: calls are none of theirs. */
export interface JobShelf extends Pick<Jobs, "list" | "get" | "read"> {
  /** A job with the size that its log has now. */
  present(entry: JobEntry): Job;
  /** Throws `not_found`. */
  need(id: string): JobEntry;
}

/** Reads what there is; nothing is started, ended or changed here. */
export function createJobShelf(files: JobFiles, store: JobStore): JobShelf {
  function present(entry: JobEntry): Job {
    const { record } = entry;
    const grows = isRunning(entry) || entry.lingering;
    return jobOf(record, grows ? files.logBytesNow(record.id) : record.bytes);
  }

  function find(id: string): JobEntry | null {
    const entry = isJobId(id) ? store.get(id) : null;
    return entry === null || entry.record.kind === "call" ? null : entry;
  }

  function need(id: string): JobEntry {
    const entry = find(id);
    if (entry === null) throw noJob();
    return entry;
  }

  return {
    present,
    need,
    list() {
      const jobs: Job[] = [];
      for (const entry of store.all()) if (entry.record.kind !== "call") jobs.push(present(entry));
      return jobs.sort((a, b) => (a.started < b.started ? 1 : a.started > b.started ? -1 : 0));
    },
    get(id) {
      const entry = find(id);
      return entry && present(entry);
    },
    async read(request) {
      const entry = need(request.job);
      const { offset, limit, tail } = request;
      const wanted = {
        ...(offset === undefined ? {} : { offset }),
        ...(limit === undefined ? {} : { limit }),
        ...(tail === undefined ? {} : { tail }),
      };
      checkLogRequest(wanted);
      const ended = !isRunning(entry);
      const chunk = await readLog(files.logPath(request.job), wanted, ended);
      return {
        type: "job_output",
        job: request.job,
        offset: chunk.offset,
        next_offset: chunk.nextOffset,
        size: chunk.size,
        output: chunk.output,
        done: ended && chunk.nextOffset === chunk.size,
        incomplete: entry.record.incomplete,
      };
    },
  };
}
