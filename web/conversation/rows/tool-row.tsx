import { useMemo } from "preact/hooks";
import type { Agent } from "../../../src/protocol/objects.ts";
import { review } from "../../approvals/review.ts";
import { compareTexts } from "../../diff/compare-texts.ts";
import { DiffCount, DiffView } from "../../diff/diff-view.tsx";
import { parsePatch } from "../../diff/parse-patch.ts";
import { proseText } from "../../markdown/prose-text.ts";
import { hrefOf } from "../../state/router.ts";
import type { PermissionOutcome, ToolRow } from "../../transcript/rows.ts";
import { Button, LinkButton } from "../../ui/button.tsx";
import { Icon } from "../../ui/icon.tsx";
import type { IconName } from "../../ui/icon-paths.ts";
import { scrollable } from "../../ui/scrollable.ts";
import { StateMark } from "../../ui/state-mark.tsx";
import { visibleCall } from "../../ui/visible-call.ts";
import { visible } from "../../ui/visible-text.ts";
import { durationText, readCallInput, splitPath, waitedText, withoutWait } from "../call-text.ts";
import { useConversation } from "../conversation-context.ts";
import { Fold } from "./fold.tsx";
import { OutputView } from "./output-view.tsx";

/** A call of a tool: what it does and how it went in one line; input, output and changes below it. */
export function ToolRowView({ row }: { readonly row: ToolRow }) {
  const { result, permission } = row;
  const subagent = useSubagent(row);
  const diff = useMemo(
    () => (result?.diff ? { path: result.diff.path, diff: parsePatch(result.diff.patch) } : null),
    [result],
  );
  const isWaiting = permission?.allowed === null && result === null;
  const isShell = useConversation().isShell.value;
  const hasFailed = result !== null && (result.isError || (result.exitCode ?? 0) !== 0);
  return (
    <div class="tool-row">
      <Fold
        foldKey={row.key}
        isOpenAtFirst={
          isShell || isWaiting || (result === null && row.outputSoFar !== "") || diff !== null || hasFailed
        }
        head={
          <>
            <Icon name={iconOf(row.tool)} />
            <span class="tool-name">{visible(row.tool)}</span>
            <Summary text={oneLine(row.summary)} />
            {diff && <DiffCount added={diff.diff.added} removed={diff.diff.removed} />}
            <ToolState row={row} isWaiting={isWaiting} hasFailed={hasFailed} />
          </>
        }
      >
        {() => (
          <>
            {/* In a shell the prompt above is the command. */}
            {(!isShell || isWaiting) && <CallInputView row={row} hasDiff={diff !== null} />}
            {permission !== null && !isWaiting && (
              <PermissionLine permission={permission} waitedMillis={row.waitedMillis} />
            )}
            {isWaiting && (
              <p>
                <Button kind="primary" icon="approve" onClick={() => review(permission.request_id)}>
                  Review
                </Button>
              </p>
            )}
            {diff && <DiffView diff={diff.diff} path={diff.path} />}
            <CallOutput row={row} isWhole={diff === null} hasFailed={hasFailed} />
            {result?.job && (
              <p>
                <LinkButton href={hrefOf(`/jobs/${encodeURIComponent(result.job)}`)} icon="jobs">
                  Job {result.job}
                </LinkButton>
              </p>
            )}
          </>
        )}
      </Fold>
      {subagent && (
        <a class="subagent-link" href={hrefOf(`/agent/${subagent.id}`)}>
          <StateMark state={subagent.state} />
          <span>Open {proseText(subagent.label ?? "subagent")}</span>
          <Icon name="forward" />
        </a>
      )}
    </div>
  );
}

/** Of a file the name stays in sight, whatever has no room. */
function Summary({ text }: { readonly text: string }) {
  const cwd = useConversation().cwd.value;
  const { folder, name } = splitPath(text, cwd);
  return (
    <span class="tool-summary">
      {folder !== "" && <span class="tool-folder">{proseText(folder)}</span>}
      <span>{proseText(name)}</span>
    </span>
  );
}

function ToolState({
  row,
  isWaiting,
  hasFailed,
}: {
  readonly row: ToolRow;
  readonly isWaiting: boolean;
  readonly hasFailed: boolean;
}) {
  const { result, permission } = row;
  if (isWaiting) return <StateMark state="waiting" />;
  if (result === null) return <StateMark state="running" />;
  if (permission?.allowed === false) return <StateMark state="killed" word="Denied" />;
  const time = durationText(withoutWait(result.millis, row.waitedMillis));
  if (hasFailed)
    return (
      <StateMark state="failed" word={result.exitCode === null ? "Failed" : `Exit ${result.exitCode}`} />
    );
  return <StateMark state="exited" word={time} />;
}

function CallInputView({ row, hasDiff }: { readonly row: ToolRow; readonly hasDiff: boolean }) {
  const input = useMemo(() => readCallInput(row.input), [row.input]);
  const change = useMemo(
    () => (input.change && !hasDiff ? compareTexts(input.change.before, input.change.after) : null),
    [input, hasDiff],
  );
  return (
    <>
      {input.command !== null && <InputText text={input.command} label="Command" />}
      {input.path !== null && !hasDiff && change === null && <InputText text={input.path} label="File" />}
      {change && <DiffView diff={change} path={input.path ?? "text"} />}
      {input.rest !== "" && <InputText text={input.rest} label="Input" />}
    </>
  );
}

const maxInputChars = 20_000;

function InputText({ text, label }: { readonly text: string; readonly label: string }) {
  const isCut = text.length > maxInputChars;
  return (
    <figure class="call-input" aria-label={label}>
      <pre {...scrollable} dir="ltr">
        {visibleCall(isCut ? text.slice(0, maxInputChars) : text)}
      </pre>
      {isCut && <p class="output-more">{text.length - maxInputChars} more characters are not shown.</p>}
    </figure>
  );
}

function CallOutput({
  row,
  isWhole,
  hasFailed,
}: {
  readonly row: ToolRow;
  readonly isWhole: boolean;
  readonly hasFailed: boolean;
}) {
  const text = row.result === null ? row.outputSoFar : row.result.output;
  if (text.trim() === "" || (!isWhole && !hasFailed)) return null;
  return <OutputView text={text} foldKey={row.key} lines={row.result === null ? 10 : 16} />;
}

interface PermissionLineProps {
  readonly permission: PermissionOutcome;
  readonly waitedMillis?: number;
}

/** How a permission request ended, by whom, and how long that took. */
export function PermissionLine({ permission, waitedMillis = 0 }: PermissionLineProps) {
  const { nameOf } = useConversation();
  const { allowed, decision, by } = permission;
  if (allowed === null) return <p class="permission-line">Waits for permission.</p>;
  const who = by === null ? "" : ` by ${nameOf(by)}`;
  const what = allowed
    ? `Allowed${decision === "allow_session" ? " for the session" : ""}${who}`
    : by === null
      ? "Nobody answered before the turn ended"
      : `Denied${who}`;
  return (
    <p class="permission-line">
      <Icon name={allowed ? "check" : "close"} />
      {[what, waitedText(waitedMillis)].filter(Boolean).join(", ")}
    </p>
  );
}

/** The subagent that this call started, as long as it is on the tab: by its label, which is all that both know. */
function useSubagent(row: ToolRow): Agent | undefined {
  const subagents = useConversation().subagents.value;
  if (subagents.length === 0) return undefined;
  const label = labelIn(row.input);
  return subagents.findLast(
    (agent) =>
      agent.label !== null && (agent.label === label || (label === null && agent.label === row.summary)),
  );
}

function labelIn(input: unknown): string | null {
  if (typeof input !== "object" || input === null) return null;
  for (const name of ["label", "description"]) {
    const value = (input as Record<string, unknown>)[name];
    if (typeof value === "string") return value;
  }
  return null;
}

function oneLine(text: string): string {
  return text.slice(0, 400).replace(/\s+/g, " ");
}

function iconOf(tool: string): IconName {
  const name = tool.toLowerCase();
  if (/bash|shell|exec|terminal|command|job/.test(name)) return "jobs";
  if (/edit|write|patch|replace/.test(name)) return "edit";
  if (/read|file|list|ls/.test(name)) return "file";
  if (/search|grep|glob|find|fetch|web/.test(name)) return "search";
  if (/agent|task/.test(name)) return "spark";
  return "wrench";
}
