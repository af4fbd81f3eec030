import { type Static, Type } from "typebox";
import { createChecker } from "../../lib/checker.ts";
import { type FileFormat, migrateText } from "../../lib/migrate.ts";
import { type Job, JobStateSchema } from "../../protocol/objects.ts";

const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);
const Count = Type.Integer({ minimum: 0 });

/** The format of `jobs/<id>.json`, and how older ones become it. */
export const jobFormat: FileFormat = { version: 1, migrations: [] };

const JobRecordSchema = Type.Object({
  version: Type.Literal(1),
  id: Type.String({ pattern: "^[0-9a-f]{8}$" }),
  /**
   * `call`: a foreground call of a turn; hidden, and removed when it has ended. `terminal`: one that clients see as a job, and
   * that is kept as one.
   */
  kind: Type.Union([Type.Literal("job"), Type.Literal("call"), Type.Literal("terminal")]),
  workspace: nullable(Type.String()),
  tab: nullable(Type.String()),
  agent: nullable(Type.String()),
  command: Type.String(),
  cwd: Type.String(),
  /** Leader of the process group; null until it was started. */
  pid: nullable(Type.Integer({ minimum: 2 })),
  /** When the leader was started, in the unit of the process table; with `boot` and `pid` its identity. */
  start: nullable(Count),
  boot: Type.String(),
  state: JobStateSchema,
  exit_code: nullable(Type.Integer({ minimum: 0, maximum: 255 })),
  reason: nullable(Type.String()),
  started: Type.String(),
  ended: nullable(Type.String()),
  /** Size of the log when the job ended. */
  bytes: Count,
  incomplete: Type.Boolean(),
  /** Written before the first signal, so that an end without a status can be told from a loss. */
  kill: nullable(Type.Object({ at: Type.String(), reason: nullable(Type.String()) })),
});

/** What `jobs/<id>.json` holds. */
export type JobRecord = Static<typeof JobRecordSchema>;

const checker = createChecker(JobRecordSchema);

/** Reads a job file; null when it is damaged, belongs to another id, or a newer version wrote it. */
export function parseJobRecord(id: string, rawText: string): JobRecord | null {
  const found = migrateText(rawText, jobFormat);
  if (!found.ok || !checker.check(found.value)) return null;
  const record = found.value as JobRecord;
  if (record.id !== id || Number.isNaN(Date.parse(record.started))) return null;
  const endedOk = record.ended !== null && !Number.isNaN(Date.parse(record.ended));
  return record.state === "running" ? (record.ended === null ? record : null) : endedOk ? record : null;
}

/** The object of the wire; `bytes` is the size of the log now. */
export function jobOf(record: JobRecord, bytes: number): Job {
  const { id, workspace, tab, agent, command, cwd, pid, state, exit_code, reason, started, ended } = record;
  return { id, workspace, tab, agent, command, cwd, pid, state, exit_code, reason, started, ended, bytes };
}

export interface EndFacts {
  /** From the exit file, or from a leader of ours that exited by itself. */
  readonly exitCode: number | null;
  /** Number of the signal that ended the leader itself; null when that is not known. */
  readonly leaderSignal: number | null;
  readonly killAsked: boolean;
  readonly neverStarted: boolean;
}

/** How a job ended: `exited`, `killed` when that was asked for, `failed` when it never began, else `lost`. */
export function endOf(facts: EndFacts): {
  readonly state: "exited" | "killed" | "failed" | "lost";
  readonly exitCode: number | null;
} {
  const { exitCode, leaderSignal, killAsked } = facts;
  const bySignal = leaderSignal === null ? null : 128 + leaderSignal;
  if (killAsked) return { state: "killed", exitCode: exitCode ?? bySignal };
  if (exitCode !== null) return { state: "exited", exitCode };
  return { state: facts.neverStarted ? "failed" : "lost", exitCode: null };
}
