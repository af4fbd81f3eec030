import { useSignal } from "@preact/signals";
import type { Agent, TabWithAgents } from "../../src/protocol/objects.ts";
import { useActions } from "../state/actions.ts";
import { navigate } from "../state/router.ts";
import { useSession } from "../state/session.ts";
import { toast } from "../state/toasts.ts";
import { IconButton } from "../ui/button.tsx";
import { Menu, type MenuItem } from "../ui/menu.tsx";
import { RenameDialog } from "./rename-dialog.tsx";
import { RunSettings } from "./run-settings.tsx";
import { useIsShell } from "./use-runtime.ts";

interface ConversationMenuProps {
  readonly agent: Agent;
  readonly tab: TabWithAgents | null;
}

/** What can be done to a conversation as a whole, by menu, palette and keys. */
export function ConversationMenu({ agent, tab }: ConversationMenuProps) {
  const session = useSession();
  const open = useSignal<"settings" | "rename" | null>(null);
  const mayDrive = session.may("drive");
  const isSubagent = agent.parent !== null;
  const isBusy = agent.state === "running" || agent.state === "waiting";
  const hasContext = !useIsShell(agent.runtime);
  const show = (which: "settings" | "rename") => () => {
    open.value = which;
  };

  const close = async (): Promise<void> => {
    if ((await session.act({ type: "agent_close", agent: agent.id })) === null) return;
    navigate("/");
    toast("Closed. The conversation stays among the sessions.", {
      action: {
        label: "Open again",
        run: () => {
          void session.act({ type: "agent_open", agent: agent.id });
          navigate(`/agent/${agent.id}`);
        },
      },
    });
  };
  const startAnother = async (): Promise<void> => {
    if (tab === null) return;
    const reply = await session.act({ type: "agent_start", tab: tab.id });
    if (reply !== null) navigate(`/agent/${reply.agent}`);
  };
  const stop = (): void => void session.act({ type: "cancel", agent: agent.id });

  const items: MenuItem[] = mayDrive
    ? [
        { label: "Rename…", icon: "edit", run: show("rename") },
        ...(tab === null
          ? []
          : [{ label: "New conversation here", icon: "plus" as const, run: () => void startAnother() }]),
        ...(hasContext && !isSubagent
          ? [
              {
                label: "Sum up",
                icon: "sessions" as const,
                isDisabled: isBusy,
                run: () => void session.act({ type: "compact", agent: agent.id }),
              },
              {
                label: "Begin anew (clear)",
                icon: "refresh" as const,
                isDisabled: isBusy,
                run: () => void session.act({ type: "clear", agent: agent.id }),
              },
            ]
          : []),
        ...(isBusy ? [{ label: "Stop", icon: "stop" as const, run: stop }] : []),
        { label: "Close", icon: "close", run: () => void close() },
      ]
    : [];

  useActions(
    "conversation",
    mayDrive
      ? [
          ...items.map(({ label, run, isDisabled }) => ({
            id: `conversation ${label}`,
            label: label.replace("…", ""),
            section: "Conversation",
            run: isDisabled ? () => undefined : run,
          })),
          ...(isBusy
            ? [{ id: "conversation Stop", label: "Stop", section: "Conversation", keys: "mod+.", run: stop }]
            : []),
          {
            id: "conversation settings",
            label: "Mode, model and thinking",
            section: "Conversation",
            keys: "m",
            run: show("settings"),
          },
        ]
      : [],
    [agent.id, agent.state, agent.runtime, tab?.id, mayDrive],
  );

  const done = (): void => {
    open.value = null;
  };
  return (
    <>
      {mayDrive && !isSubagent && (
        <IconButton icon="settings" label="Mode, model and thinking" onClick={show("settings")} />
      )}
      {items.length > 0 && <Menu label="More of this conversation" items={items} />}
      {open.value === "settings" && <RunSettings agent={agent} tab={tab} onClose={done} />}
      {open.value === "rename" && <RenameDialog agent={agent} onClose={done} />}
    </>
  );
}
