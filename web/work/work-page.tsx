import { useSession } from "../state/session.ts";
import { Page } from "../ui/page.tsx";
import { EmptyState } from "../ui/states.tsx";
import { visible } from "../ui/visible-text.ts";
import { WorkspaceTree } from "./workspace-tree.tsx";

/** Where work begins: the folders and agents of the workspace. */
export function WorkPage() {
  const { workspace, tabs } = useSession();
  return (
    <Page title={visible(workspace.value?.name ?? "Work")}>
      {tabs.value.length === 0 ? (
        <EmptyState icon="folder" title="No folder is open in this workspace" />
      ) : (
        <WorkspaceTree />
      )}
    </Page>
  );
}
