import { useSignal } from "@preact/signals";
import { limits } from "../../src/protocol/limits.ts";
import { useActions } from "../state/actions.ts";
import { useSession } from "../state/session.ts";
import { ConfirmDialog } from "../ui/confirm-dialog.tsx";
import { Menu, type MenuItem } from "../ui/menu.tsx";
import { NameDialog } from "../ui/name-dialog.tsx";
import { visible } from "../ui/visible-text.ts";

/** Which workspace this page shows, and what can be done to it. The choice is of this page alone. */
export function WorkspaceMenu() {
  const session = useSession();
  const asks = useSignal<"create" | "rename" | "delete" | null>(null);
  const workspace = session.workspace.value;
  const all = session.workspaces.value;
  const mayDrive = session.may("drive");
  const close = (): void => {
    asks.value = null;
  };
  const choices: readonly MenuItem[] = all.map(({ id, name }) => ({
    label: visible(name),
    isChosen: id === workspace?.id,
    run: () => void session.act({ type: "workspace_open", workspace: id }),
  }));
  const changes: readonly MenuItem[] = mayDrive
    ? [
        { label: "New workspace", icon: "plus", run: () => (asks.value = "create") },
        { label: "Rename this one", icon: "edit", run: () => (asks.value = "rename") },
        {
          label: "Delete this one",
          icon: "trash",
          isDanger: true,
          isDisabled: all.length < 2,
          run: () => (asks.value = "delete"),
        },
      ]
    : [];
  useActions(
    "workspaces",
    choices
      .filter(({ isChosen }) => !isChosen)
      .map(({ label, run }, index) => ({
        id: `workspace ${index}`,
        label: `Go to ${label}`,
        section: "Workspaces",
        run,
      })),
    [all, workspace?.id],
  );

  async function create(name: string): Promise<void> {
    close();
    const reply = await session.act({ type: "workspace_create", name });
    if (reply !== null) await session.act({ type: "workspace_open", workspace: reply.workspace });
  }
  /** Goes to another one first: one that somebody looks at is not deleted. */
  async function erase(id: string): Promise<void> {
    close();
    const other = all.find((one) => one.id !== id);
    if (other === undefined) return;
    if ((await session.act({ type: "workspace_open", workspace: other.id })) === null) return;
    await session.act({ type: "workspace_delete", workspace: id });
  }

  if (workspace === null) return null;
  return (
    <>
      <Menu label="Workspaces" items={[...choices, ...changes]} />
      {asks.value === "create" && (
        <NameDialog
          title="New workspace"
          name=""
          maxChars={limits.labelChars}
          verb="Create"
          onClose={close}
          onName={(name) => void create(name)}
        />
      )}
      {asks.value === "rename" && (
        <NameDialog
          title="Rename the workspace"
          name={workspace.name}
          maxChars={limits.labelChars}
          verb="Rename"
          onClose={close}
          onName={(name) => {
            close();
            void session.act({ type: "workspace_rename", workspace: workspace.id, name });
          }}
        />
      )}
      {asks.value === "delete" && (
        <ConfirmDialog
          title={`Delete ${visible(workspace.name)}?`}
          verb="Delete"
          keep="Keep it"
          onClose={close}
          onConfirm={() => void erase(workspace.id)}
        >
          <p>Its tabs are closed. Conversations, jobs and the folders themselves stay.</p>
        </ConfirmDialog>
      )}
    </>
  );
}
