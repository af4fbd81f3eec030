import { useSignal } from "@preact/signals";
import { limits } from "../../src/protocol/limits.ts";
import type { SessionRow } from "../../src/protocol/rest-objects.ts";
import { errorText } from "../state/error-text.ts";
import { hrefOf, navigate } from "../state/router.ts";
import { useSession } from "../state/session.ts";
import { toast } from "../state/toasts.ts";
import { ConfirmDialog } from "../ui/confirm-dialog.tsx";
import { Row } from "../ui/list.tsx";
import { Menu, type MenuItem } from "../ui/menu.tsx";
import { NameDialog } from "../ui/name-dialog.tsx";
import { StateMark } from "../ui/state-mark.tsx";
import { Time } from "../ui/time.tsx";
import { visible } from "../ui/visible-text.ts";
import { rawSessionName } from "./session-rows.ts";
import "./saved-session.css";

interface SavedSessionProps {
  readonly row: SessionRow;
  readonly mayChange: boolean;
}

/** A row of the list: leads to the conversation, and can be renamed, pinned, put away and deleted. */
export function SavedSession({ row, mayChange }: SavedSessionProps) {
  const session = useSession();
  const asks = useSignal<"rename" | "delete" | null>(null);
  const name = visible(rawSessionName(row));
  const mark = (change: { readonly pinned?: boolean; readonly archived?: boolean }): void =>
    void session.act({ type: "session_update", session: row.id, ...change });
  const isOnTab = row.tab !== null;
  const items: readonly MenuItem[] = [
    { label: "Open", icon: "chat", isDisabled: row.damaged, run: () => void open() },
    { label: "Rename", icon: "edit", run: () => (asks.value = "rename") },
    { label: row.pinned ? "Unpin" : "Pin", icon: "up", run: () => mark({ pinned: row.pinned !== true }) },
    {
      label: row.archived ? "Bring back" : "Put away",
      icon: "down",
      run: () => mark({ archived: row.archived !== true }),
    },
    {
      label: isOnTab ? "Delete (close it first)" : "Delete",
      icon: "trash",
      isDanger: true,
      isDisabled: isOnTab,
      run: () => (asks.value = "delete"),
    },
  ];

  /** Brings it back to a tab, and goes there. */
  async function open(): Promise<void> {
    const reply = await session.act({ type: "agent_open", agent: row.id });
    if (reply === null) return;
    // The tab that holds it may be in another workspace, which this connection has to look at.
    if (row.workspace !== null && row.workspace !== session.workspace.value?.id)
      await session.act({ type: "workspace_open", workspace: row.workspace });
    navigate(`/agent/${row.id}`);
  }

  async function erase(): Promise<void> {
    asks.value = null;
    try {
      await session.rest.request("DELETE", `/api/sessions/${row.id}`);
      toast("Deleted.");
    } catch (error) {
      toast(errorText(error), { kind: "problem" });
    }
  }

  return (
    <>
      <Row
        title={name}
        href={hrefOf(`/agent/${row.id}`)}
        detail={<Facts row={row} />}
        actions={mayChange && <Menu label={`More about ${name}`} items={items} />}
      />
      {asks.value === "rename" && (
        <NameDialog
          title="Rename the conversation"
          label="Title"
          name={rawSessionName(row)}
          maxChars={limits.labelChars}
          verb="Rename"
          onClose={() => (asks.value = null)}
          onName={(title) => {
            asks.value = null;
            void session.act({ type: "session_update", session: row.id, title });
          }}
        />
      )}
      {asks.value === "delete" && (
        <ConfirmDialog
          title="Delete this conversation?"
          verb="Delete"
          keep="Keep it"
          onClose={() => (asks.value = null)}
          onConfirm={() => void erase()}
        >
          <p>
            <strong>{name}</strong>
          </p>
          <p>
            All of it is removed from the daemon's machine and cannot be brought back. Put it away to keep it
            out of sight only.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}

function Facts({ row }: { readonly row: SessionRow }) {
  return (
    <span class="session-facts">
      <span>
        <Time at={row.updated} />
      </span>
      {row.state !== "closed" && (
        <StateMark state={row.state} {...(row.state === "idle" ? { word: "Open" } : {})} />
      )}
      {row.cwd !== null && <span>{visible(row.cwd)}</span>}
      {row.runtime !== null && row.runtime !== "shell" && <span>{visible(row.model ?? row.runtime)}</span>}
      {row.damaged && <span class="problem-text">Its file is damaged; it can be read and deleted</span>}
    </span>
  );
}
