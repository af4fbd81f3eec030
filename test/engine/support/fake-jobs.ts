import type { CallResult, CallSpec, JobSpec, Jobs } from "../../../src/engine/jobs/jobs.ts";
import { SallyportError } from "../../../src/errors.ts";
import { newJobId } from "../../../src/lib/ids.ts";
import type { Job } from "../../../src/protocol/objects.ts";

export interface FakeCall {
  readonly spec: CallSpec;
  /** Ends the call as its process would. */
  end(result?: Partial<CallResult>): void;
}

export interface FakeJobs extends Jobs {
  /** Calls that run and that have run, oldest first. */
  readonly calls: FakeCall[];
  readonly started: JobSpec[];
  /** Resolves with the next call whose turn it is. */
  nextCall(): Promise<FakeCall>;
  /** With a function, calls end at once with its result. */
  answer: ((spec: CallSpec) => Partial<CallResult>) | null;
}

/** Jobs without processes: a call runs until the test ends it, or its signal does. */
export function createFakeJobs(): FakeJobs {
  const calls: FakeCall[] = [];
  const waiting: ((call: FakeCall) => void)[] = [];
  let taken = 0;
  const started: JobSpec[] = [];
  const jobs = new Map<string, Job>();
  const listeners = new Set<(kind: "started" | "finished", job: Job) => void>();
  const unknown = (): never => {
    throw new SallyportError("not_found", "There is no such job.");
  };
  const fake: FakeJobs = {
    calls,
    started,
    answer: null,
    async nextCall() {
      const call = calls[taken];
      taken += 1;
      return call ?? new Promise((resolve) => waiting.push(resolve));
    },
    async start(spec, beforeSpawn) {
      beforeSpawn?.();
      started.push(spec);
      const job: Job = {
        id: newJobId(),
        ...spec,
        pid: 1,
        state: "running",
        exit_code: null,
        reason: null,
        started: new Date(0).toISOString(),
        ended: null,
        bytes: 0,
      };
      jobs.set(job.id, job);
      for (const listener of listeners) listener("started", job);
      return job;
    },
    list: () => [...jobs.values()],
    get: (id) => jobs.get(id) ?? null,
    read: async () => unknown(),
    follow: () => unknown(),
    async kill(id, beforeSignal) {
      const job = jobs.get(id) ?? unknown();
      beforeSignal?.();
      const killed: Job = { ...job, state: "killed", exit_code: 143 };
      jobs.set(id, killed);
      for (const listener of listeners) listener("finished", killed);
      return killed;
    },
    runCall(spec) {
      return new Promise<CallResult>((resolve) => {
        const end = (result: Partial<CallResult> = {}): void =>
          resolve({ exitCode: 0, output: "", cancelled: false, error: null, ...result });
        const call = { spec, end };
        calls.push(call);
        spec.signal.addEventListener("abort", () => end({ exitCode: 143, cancelled: true }));
        if (fake.answer) end(fake.answer(spec));
        const next = waiting.shift();
        if (next) next(call);
      });
    },
    runningCount: () => [...jobs.values()].filter((job) => job.state === "running").length,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: async () => undefined,
  };
  return fake;
}
