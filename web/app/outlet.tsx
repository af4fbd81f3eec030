import { useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import type { PageProps } from "../routes/page-row.ts";
import { hrefOf, path } from "../state/router.ts";
import { useSession } from "../state/session.ts";
import { LinkButton } from "../ui/button.tsx";
import { Page } from "../ui/page.tsx";
import { EmptyState, ErrorState, Spinner } from "../ui/states.tsx";
import { MorePage } from "./more-page.tsx";
import { type FoundPage, findPage, loadedPage, loadPage } from "./page-loader.ts";

/** Shows the page at the current path. */
export function Outlet() {
  const at = path.value;
  if (at === "/more") return <MorePage />;
  const found = findPage(at);
  if (found === null)
    return (
      <Page title="No such page">
        <EmptyState title="There is nothing at this address">
          <LinkButton href={hrefOf("/")}>Go to work</LinkButton>
        </EmptyState>
      </Page>
    );
  return <Loaded key={found.row.path} row={found.row} params={found.params} />;
}

function Loaded({ row, params }: FoundPage) {
  const view = useSignal<ComponentType<PageProps> | null>(loadedPage(row));
  const problem = useSignal(false);
  const session = useSession();
  const load = async (): Promise<void> => {
    problem.value = false;
    try {
      view.value = await loadPage(row);
    } catch {
      problem.value = true; // Offline, or the daemon was updated: both are said below.
    }
  };
  useEffect(() => {
    if (view.peek() === null) void load();
  }, [row]);
  const View = view.value;
  if (View !== null) return <View params={params} />;
  return (
    <Page title={row.title}>
      {problem.value ? (
        <ErrorState
          problem="This part of the page could not be loaded: there is no connection, or the daemon was updated."
          onRetry={session.isLive.value ? () => location.reload() : () => void load()}
        />
      ) : (
        <Spinner />
      )}
    </Page>
  );
}
