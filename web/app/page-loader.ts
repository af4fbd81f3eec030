import type { ComponentType } from "preact";
import type { PageProps, PageRow } from "../routes/page-row.ts";
import { pages } from "../routes/pages.ts";
import { match } from "../state/router.ts";

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

/** The page's component if it is loaded already. */
export function loadedPage(row: PageRow): ComponentType<PageProps> | null {
  return loaded.get(row) ?? null;
}

/** Loads the page's component. Rejects when there is no connection, and when the daemon has newer files. */
export async function loadPage(row: PageRow): Promise<ComponentType<PageProps>> {
  const known = loaded.get(row);
  if (known !== undefined) return known;
  const component = await row.load();
  loaded.set(row, component);
  return component;
}

/** Begins to load the page at a path, while something else is waited for. */
export function preloadPage(at: string): void {
  const found = findPage(at);
  // Whoever shows the page tells of the failure.
  if (found !== null) loadPage(found.row).catch(() => undefined);
}

/** Loads, one after the other, what is likely to be wanted next, so that it is there even when the line is not. */
export async function preloadLikely(): Promise<void> {
  for (const row of pages.filter(({ nav, path }) => nav === "main" || path.startsWith("/agent/")))
    try {
      await loadPage(row);
    } catch {
      return; // No connection: what is wanted is loaded when it is wanted.
    }
}
