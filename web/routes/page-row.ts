import type { ComponentType } from "preact";
import type { Scope } from "../../src/protocol/scopes.ts";
import type { IconName } from "../ui/icon-paths.ts";

/** What a page's component gets: the named parts of its path. */
export interface PageProps {
  readonly params: Readonly<Record<string, string>>;
}

/** One page of the application. */
export interface PageRow {
  /** `/jobs/:job?`; the first part is its address everywhere. */
  readonly path: string;
  readonly title: string;
  readonly icon: IconName;
  /** `main`: in the bottom bar of a phone; `more`: behind its last item; `none`: reached from other pages. */
  readonly nav: "main" | "more" | "none";
  /** A device without it is not offered the page. */
  readonly needs: Scope;
  /** Two keys that open it, as `g j`. */
  readonly keys: string | null;
  /** Loaded when it is first shown. */
  readonly load: () => Promise<ComponentType<PageProps>>;
}
