import type { ComponentChildren } from "preact";
import { proseText } from "../markdown/prose-text.ts";
import { hrefOf } from "../state/router.ts";
import { useSession } from "../state/session.ts";
import { Icon } from "../ui/icon.tsx";
import { Time } from "../ui/time.tsx";
import { visible } from "../ui/visible-text.ts";
import type { Held } from "./held-requests.ts";

/** Where a request comes from: folder, tab and workspace, and which agent asks. */
export function Origin({ held, cwd }: { readonly held: Held; readonly cwd: string | null }) {
  const session = useSession();
  const { request } = held.waiting;
  const tab = session.tabs.value.find(({ id }) => id === request.tab);
  const workspace = session.workspaces.value.find(({ id }) => id === request.workspace);
  const isElsewhere = request.workspace !== session.workspace.value?.id;
  const agent = request.agent === null ? undefined : session.agents.value.get(request.agent);
  const parent = agent?.parent == null ? undefined : session.agents.value.get(agent.parent);
  const name = agent === undefined ? "An agent" : (agent.title ?? agent.label ?? agent.runtime);
  return (
    <dl class="origin">
      <dt>Asked by</dt>
      <dd>
        {request.agent === null ? (
          "a device that may not start jobs by itself"
        ) : (
          <a href={hrefOf(`/agent/${request.agent}`)}>{proseText(name)}</a>
        )}
        {parent !== undefined &&
          `, a subagent of ${proseText(parent.title ?? parent.label ?? "another agent")}`}
        , <Time at={request.at} />
      </dd>
      <dt>Where</dt>
      <dd>
        {cwd !== null && <code>{visible(cwd)}</code>}
        {tab !== undefined && ` in tab ${proseText(tab.name)}`}
        {isElsewhere && workspace !== undefined && `, workspace ${proseText(workspace.name)}`}
      </dd>
    </dl>
  );
}

/** How a request ended; empty while it waits. */
export function EndLine({ held }: { readonly held: Held }) {
  const { end, waiting } = held;
  return (
    <div role="status">
      {end !== null && (
        <p class="request-end">
          <Icon name={end.outcome?.allowed ? "check" : "close"} />
          {endText(end, waiting.kind)}
        </p>
      )}
    </div>
  );
}

function endText(end: NonNullable<Held["end"]>, kind: "permission" | "question"): string {
  if (end.isChanged) return "The call has changed. It asks again.";
  if (end.outcome === null) return "No longer open.";
  const { allowed, by } = end.outcome;
  if (by === null) return "Its turn ended; nobody answered.";
  const what = kind === "permission" ? (allowed ? "Allowed" : "Denied") : allowed ? "Answered" : "Closed";
  return `${what} by ${proseText(by)}.`;
}

/** One card of the list: an article with its title. */
export function CardFrame({
  held,
  title,
  isFirst,
  children,
}: {
  readonly held: Held;
  readonly title: string;
  /** A dialog that opens begins here. */
  readonly isFirst: boolean;
  readonly children: ComponentChildren;
}) {
  return (
    <article
      class={held.end === null ? "request-card" : "request-card ended"}
      data-request={held.waiting.request.request_id}
      aria-label={title}
      tabIndex={-1}
      autofocus={isFirst}
    >
      <h3>{title}</h3>
      {children}
    </article>
  );
}
