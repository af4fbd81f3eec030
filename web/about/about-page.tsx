import { scopeNames } from "../remote/scope-words.ts";
import { useSession } from "../state/session.ts";
import { useRest } from "../state/use-rest.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { Page } from "../ui/page.tsx";
import { ErrorState, Spinner } from "../ui/states.tsx";
import { Time } from "../ui/time.tsx";
import { aboutText, type DaemonAnswer, type UpdateAnswer, updateText } from "./about-text.ts";
import "./about-page.css";

/** Which daemon this is, how it is, and whether there is a newer one. */
export function AboutPage() {
  const { base, snapshot } = useSession();
  const daemon = useRest<DaemonAnswer>("/api/daemon");
  const update = useRest<UpdateAnswer>("/api/update");
  const { value } = daemon;
  const scopes = snapshot.value?.daemon.principal.scopes ?? [];
  return (
    <Page title="About" lead="Sallyport: leave your desk.">
      {daemon.problem !== null && <ErrorState problem={daemon.problem} onRetry={daemon.reload} />}
      {value === null && daemon.problem === null && <Spinner />}
      {value !== null && (
        <>
          <dl class="facts">
            <dt>Version</dt>
            <dd>
              {value.version}
              {update.value !== null && <span class="quiet-text"> {updateText(update.value)}</span>}
            </dd>
            <dt>Address</dt>
            <dd>{base.replace(/\/$/, "")}</dd>
            <dt>Running since</dt>
            <dd>
              <Time at={value.started} />
            </dd>
            <dt>At work</dt>
            <dd>
              {count(value.running_agents, "agent")}, {count(value.running_jobs, "job")},{" "}
              {value.pending === 0 ? "nothing waits for an answer" : `${value.pending} waiting for an answer`}
            </dd>
            <dt>Connected</dt>
            <dd>{count(value.clients, "client")}</dd>
            <dt>This device may</dt>
            <dd>{scopeNames(scopes)}</dd>
          </dl>
          <CopyButton isBare={false} label="Copy for a report" text={aboutText(value, navigator.userAgent)} />
        </>
      )}
      <h2>Licence</h2>
      <p>
        MIT. The text and what else is inside come with the program: <code>LICENSE</code> and{" "}
        <code>docs/dependencies.md</code> in its folder.
      </p>
    </Page>
  );
}

function count(number: number, noun: string): string {
  return number === 1 ? `1 ${noun}` : `${number} ${noun}s`;
}
