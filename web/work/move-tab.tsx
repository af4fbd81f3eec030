import type { Tab } from "../../src/protocol/objects.ts";
import { useSession } from "../state/session.ts";
import { Dialog } from "../ui/dialog.tsx";
import { List, Row } from "../ui/list.tsx";
import { visible } from "../ui/visible-text.ts";

/** Puts a tab at the end of another workspace. */
export function MoveTab({ tab, onClose }: { readonly tab: Tab; readonly onClose: () => void }) {
  const session = useSession();
  return (
    <Dialog title={`Move ${visible(tab.name)}`} onClose={onClose}>
      <List label="Workspaces">
        {session.workspaces.value
          .filter(({ id }) => id !== tab.workspace)
          .map(({ id, name, tabs }) => (
            <Row
              key={id}
              title={visible(name)}
              detail={tabs === 1 ? "1 tab" : `${tabs} tabs`}
              onClick={() => {
                onClose();
                void session.act({ type: "tab_move", tab: tab.id, workspace: id, index: tabs });
              }}
            />
          ))}
      </List>
    </Dialog>
  );
}
