import { SallyportError } from "../../../errors.ts";
import { realWriteTarget } from "../../files/write-for-agent.ts";
import type { CallToPermit, Permit } from "../runtime.ts";
import { acpLimits } from "./acp-limits.ts";
import { RefuseAgent } from "./connection.ts";
import { askQuestions, questionsIn } from "./questions.ts";
import { listOf, objectOf, type RawObject } from "./raw-values.ts";
import { commandIn, patchOf, pathsOf, type ToolCall, toolName } from "./tool-call.ts";
import type { TurnDesk } from "./turn-desk.ts";

interface PermissionOption {
  readonly id: string;
  readonly kind: string;
}

const maxOptions = 10_000;
const maxIdChars = 500;

export const cancelledOutcome = { outcome: { outcome: "cancelled" } } as const;

const untold = "The agent does not say what this is.";
const noOnce =
  "The agent offers no permission for this one time, only for ever. Sallyport does not give that: allow it in the agent's own settings.";

/**
 * Answers `session/request_permission`. Whatever a person decides, the agent is told `allow_once` or `reject_once`: what is
 * remembered for the session is remembered here, since some agents write `allow_always` into their settings for good.
 */
export async function requestPermission(
  rawParams: unknown,
  desk: TurnDesk,
  options: { readonly homeFolder: string; readonly signal: AbortSignal },
): Promise<unknown> {
  const params = objectOf(rawParams);
  const offered = readOptions(params.options);
  const call = desk.calls.take(objectOf(params.toolCall), { anew: true });
  if (!call) throw new RefuseAgent(-32602, "toolCall must have a toolCallId.");
  if (desk.context.signal.aborted || options.signal.aborted) return cancelledOutcome;
  const questions = questionsIn(call);
  if (questions.length > 0) return askQuestions(call, questions, once(offered, "allow_once"), desk);
  // Asked is what the agent said with the request: it may tell another thing of the call before the question stands.
  const asked: AskedCall = { ...call };
  await desk.calls.begin(call);
  if (once(offered, "allow_once") === null) {
    await desk.calls.end(call, { output: noOnce, isError: true });
    return answer(offered, "reject_once");
  }
  const permit = await judge(asked, desk, options);
  if (permit.allowed) return answer(offered, "allow_once");
  if (permit.cancelled) return cancelledOutcome;
  await desk.calls.end(call, { output: permit.reason, isError: true });
  return answer(offered, "reject_once");
}

/** A call as it was when it was asked for. */
type AskedCall = Readonly<ToolCall>;

async function judge(
  call: AskedCall,
  desk: TurnDesk,
  { homeFolder, signal }: { readonly homeFolder: string; readonly signal: AbortSignal },
): Promise<Permit> {
  const asked = { callId: call.id, signal };
  const title = call.title === "" ? {} : { agent_title: call.title };
  const { kind, input, changes } = call;
  const paths = pathsOf(call, desk.cwd);
  // What it runs or changes counts, whatever the agent calls it: some call `cat` a read.
  const command = commandIn(input);
  const runs = kind === "execute" || command !== null;
  if (["edit", "delete", "move"].includes(kind) || (!runs && changes.length > 0))
    return judgeWrite(call, paths, desk, { homeFolder, ...asked });
  if (runs) {
    const diff = changes.length === 0 ? {} : { diff: desk.redact(patchOf(changes).patch) };
    const shown = { ...input, ...(command === null ? {} : { command }), ...diff, ...title };
    const toJudge: CallToPermit = { ...asked, tool: "bash", subject: command ?? call.title, input: shown };
    const isSeen = command !== null && !call.isCut && changes.length === 0;
    return desk.permit(isSeen ? toJudge : { ...toJudge, hidden: true });
  }
  const words = kind === "read" && paths[0] !== undefined ? paths.join(" ") : call.title;
  const permit = await desk.permit({
    ...asked,
    tool: "other",
    shownAs: toolName(call),
    input: { ...input, ...title },
    // What is not told is not remembered either.
    ...(words.trim() === "" ? { subject: untold, hidden: true } : { subject: words }),
  });
  if (permit.allowed && kind === "read") for (const path of paths) desk.allowed.reads.add(path);
  return permit;
}

async function judgeWrite(
  call: AskedCall,
  paths: readonly string[],
  desk: TurnDesk,
  {
    homeFolder,
    ...asked
  }: { readonly homeFolder: string; readonly callId: string; readonly signal: AbortSignal },
): Promise<Permit> {
  const { changes, input: rawInput, title: words } = call;
  const title = words === "" ? {} : { agent_title: words };
  const real: string[] = [];
  try {
    for (const path of paths) real.push(await realPathOf(path, homeFolder));
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error;
    return { allowed: false, reason: error.message, cancelled: false };
  }
  const diff = changes.length === 0 ? null : patchOf(changes);
  const patch = diff === null ? {} : { diff: desk.redact(diff.patch) };
  const [first, ...also] = real;
  const { command, cmd } = rawInput;
  const beside = { ...(command === undefined ? {} : { command }), ...(cmd === undefined ? {} : { cmd }) };
  const input = { ...(diff === null ? rawInput : beside), path: first ?? null, ...patch, ...title };
  const shownAs = toolName(call);
  const permit = await desk.permit(
    first === undefined
      ? { ...asked, tool: "edit", shownAs, subject: words, hidden: true, input }
      : {
          ...asked,
          tool: "edit",
          shownAs,
          subject: first,
          also,
          input: also.length === 0 ? input : { ...input, paths: real },
        },
  );
  if (permit.allowed && diff?.isWhole) {
    desk.allowed.changes.push(
      ...changes.map((change) => ({
        ...change,
        path: real[paths.indexOf(change.path)] ?? change.path,
      })),
    );
    // Those that are written by the agent itself are never taken out.
    desk.allowed.changes.splice(0, desk.allowed.changes.length - acpLimits.allowedChanges);
  }
  return permit;
}

/** Where a write would really go; what cannot be looked at is judged as it is spelt. Throws for the home. */
async function realPathOf(path: string, homeFolder: string): Promise<string> {
  try {
    return await realWriteTarget(path, homeFolder);
  } catch (error) {
    if (error instanceof SallyportError && error.code === "path_refused") throw error;
    return path;
  }
}

/** Options that can be chosen: one whose id also stands for something else could be taken for that. */
function readOptions(raw: unknown): readonly PermissionOption[] {
  const kinds = new Map<string, string>();
  const ambiguous = new Set<string>();
  for (const each of listOf(raw, maxOptions)) {
    const { optionId: id, kind }: RawObject = objectOf(each);
    if (typeof id !== "string" || typeof kind !== "string" || id.length > maxIdChars) continue;
    if ((kinds.get(id) ?? kind) !== kind) ambiguous.add(id);
    kinds.set(id, kind);
  }
  return [...kinds].filter(([id]) => !ambiguous.has(id)).map(([id, kind]) => ({ id, kind }));
}

/** The same id may mean different things in different requests, so the kind chooses; of several the one that says "once". */
function once(offered: readonly PermissionOption[], kind: string): string | null {
  const fitting = offered.filter((option) => option.kind === kind);
  return (fitting.find((option) => option.id.includes("once")) ?? fitting[0])?.id ?? null;
}

function answer(offered: readonly PermissionOption[], kind: "allow_once" | "reject_once"): unknown {
  const optionId = once(offered, kind);
  return optionId === null ? cancelledOutcome : { outcome: { outcome: "selected", optionId } };
}
