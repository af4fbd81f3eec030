import { useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import type { PageProps, PageRow } from "../routes/page-row.ts";
import { pages } from "../routes/pages.ts";
import { hrefOf, match, path } from "../state/router.ts";
import { useSession } from "../state/session.ts";
import { LinkButton } from "../ui/button.tsx";
import { Page } from "../ui/page.tsx";
import { EmptyState, ErrorState, Spinner } from "../ui/states.tsx";
import { MorePage } from "./more-page.tsx";

/** Loaded once, and there at once when it is shown again. */
const loaded = new Map<PageRow, ComponentType<PageProps>>();

export interface FoundPage {
  readonly row: PageRow;
  readonly params: Readonly<Record<string, string>>;
}

/** The page at a path; null where there is none. */
export function findPage(at: string): FoundPage | null {
  for (const row of pages) {
    const params = match(row.path, at);
    if (params !== null) return { row, params };
  }
  return null;
}

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
  const view = useSignal<ComponentType<PageProps> | null>(loaded.get(row) ?? null);
  const problem = useSignal(false);
  const session = useSession();
  const load = async (): Promise<void> => {
    problem.value = false;
    try {
      const component = await row.load();
      loaded.set(row, component);
      view.value = component;
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
