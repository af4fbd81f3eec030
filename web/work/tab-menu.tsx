import { useSignal } from "@preact/signals";
import { limits } from "../../src/protocol/limits.ts";
import type { TabWithAgents } from "../../src/protocol/objects.ts";
import { useSession } from "../state/session.ts";
import { toast } from "../state/toasts.ts";
import { Menu, type MenuItem } from "../ui/menu.tsx";
import { NameDialog } from "../ui/name-dialog.tsx";
import { visible } from "../ui/visible-text.ts";
import { MoveTab } from "./move-tab.tsx";
import { TabRuntime } from "./tab-runtime.tsx";

/** What can be done to a tab: name, place, what runs in it, out with it. */
export function TabMenu({ tab }: { readonly tab: TabWithAgents }) {
  const session = useSession();
  const asks = useSignal<"rename" | "move" | "runtime" | null>(null);
  const tabs = session.tabs.value;
  const index = tabs.findIndex(({ id }) => id === tab.id);
  const move = (to: number): void => void session.act({ type: "tab_move", tab: tab.id, index: to });
  const close = (): void => {
    asks.value = null;
  };

  async function closeTab(): Promise<void> {
    if ((await session.act({ type: "tab_close", tab: tab.id })) === null) return;
    toast("Closed. Its conversations stay among the sessions.", {
      action: {
        label: "Open again",
        run: () =>
          void session.act({ type: "tab_create", cwd: tab.cwd, name: tab.name, runtime: tab.runtime }),
      },
    });
  }

  const items: readonly MenuItem[] = [
    { label: "Rename", icon: "edit", run: () => (asks.value = "rename") },
    { label: "What runs in it", icon: "spark", run: () => (asks.value = "runtime") },
    { label: "Move up", icon: "up", isDisabled: index <= 0, run: () => move(index - 1) },
    { label: "Move down", icon: "down", isDisabled: index >= tabs.length - 1, run: () => move(index + 1) },
    {
      label: "To another workspace",
      icon: "folder",
      isDisabled: session.workspaces.value.length < 2,
      run: () => (asks.value = "move"),
    },
    { label: "Close", icon: "close", run: () => void closeTab() },
  ];
  return (
    <>
      <Menu label={`More about ${visible(tab.name)}`} items={items} />
      {asks.value === "rename" && (
        <NameDialog
          title="Rename the tab"
          name={tab.name}
          maxChars={limits.labelChars}
          verb="Rename"
          onClose={close}
          onName={(name) => {
            close();
            void session.act({ type: "tab_rename", tab: tab.id, name });
          }}
        />
      )}
      {asks.value === "move" && <MoveTab tab={tab} onClose={close} />}
      {asks.value === "runtime" && <TabRuntime tab={tab} onClose={close} />}
    </>
  );
}
