import { useSignalEffect } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ApprovalsBar } from "../approvals/approvals-bar.tsx";
import { ApprovalsPane } from "../approvals/approvals-pane.tsx";
import { PushTidy } from "../push/push-tidy.tsx";
import { pageTitle } from "../state/page-title.ts";
import { useSession } from "../state/session.ts";
import { EmptyState, Spinner } from "../ui/states.tsx";
import { Toaster } from "../ui/toaster.tsx";
import { WorkspaceTree } from "../work/workspace-tree.tsx";
import { useAgentActions } from "./agent-actions.ts";
import { ConnectionMark } from "./connection-mark.tsx";
import { JobsPane } from "./jobs-pane.tsx";
import { listenForKeys } from "./key-strokes.ts";
import { BottomBar, SideNavigation } from "./navigation.tsx";
import { Outlet } from "./outlet.tsx";
import "./shell.css";
import { ShellDialogs } from "./shell-dialogs.tsx";
import { UpdateButton } from "./update-button.tsx";

/** The paired page: three panes on a desk, one with a bottom bar on a phone. */
export function Shell() {
  const { snapshot, waiting } = useSession();
  useEffect(listenForKeys, []);
  useAgentActions();
  useSignalEffect(() => {
    const count = waiting.value === 0 ? "" : `(${waiting.value}) `;
    document.title = `${count}${pageTitle.value === "" ? "" : `${pageTitle.value} – `}Sallyport`;
  });
  const isReady = snapshot.value !== null;
  return (
    <div class="shell">
      <button type="button" class="button skip-link" onClick={() => document.getElementById("main")?.focus()}>
        Skip to the content
      </button>
      <header class="top-bar">
        <img src="icon.svg" alt="" width="28" height="28" />
        <p class="brand">
          <span>Sallyport</span>
        </p>
        <UpdateButton />
        <ConnectionMark />
      </header>
      <aside class="left-pane" aria-label="Workspace">
        <div class="left-scroll">
          <WorkspaceTree />
        </div>
        <SideNavigation />
      </aside>
      <div class="middle">
        <main id="main" tabIndex={-1}>
          {isReady ? <Outlet /> : <Waiting />}
        </main>
        <div class="toast-anchor">
          <Toaster />
        </div>
        <aside class="above-bar" aria-label="What waits for you">
          <ApprovalsBar />
        </aside>
      </div>
      <aside class="right-pane" aria-label="Approvals and jobs">
        <ApprovalsPane />
        <JobsPane />
      </aside>
      <BottomBar />
      <ShellDialogs />
      <PushTidy />
    </div>
  );
}

/** Before the daemon's state was heard for the first time. */
function Waiting() {
  const { status } = useSession();
  if (status.value.phase !== "waiting") return <Spinner label="Waiting for the state of the daemon…" />;
  return (
    <EmptyState icon="remote" title="Not connected">
      <p>
        This page is kept on this device, so it opens without a connection. What agents and jobs do is shown
        as soon as the daemon answers.
      </p>
    </EmptyState>
  );
}
