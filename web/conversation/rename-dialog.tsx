import { limits } from "../../src/protocol/limits.ts";
import type { Agent } from "../../src/protocol/objects.ts";
import { useSession } from "../state/session.ts";
import { NameDialog } from "../ui/name-dialog.tsx";

/** Gives a conversation a title of one's own. */
export function RenameDialog({ agent, onClose }: { readonly agent: Agent; readonly onClose: () => void }) {
  const session = useSession();
  return (
    <NameDialog
      title="Rename the conversation"
      label="Title"
      name={agent.title ?? agent.label ?? ""}
      maxChars={limits.labelChars}
      verb="Rename"
      onClose={onClose}
      onName={(title) => {
        onClose();
        void session.act({ type: "session_update", session: agent.id, title });
      }}
    />
  );
}
