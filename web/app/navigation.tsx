import type { PageRow } from "../routes/page-row.ts";
import { pages } from "../routes/pages.ts";
import { hrefOf, path } from "../state/router.ts";
import { type Session, useSession } from "../state/session.ts";
import { Badge } from "../ui/badge.tsx";
import { classes } from "../ui/classes.ts";
import { Icon } from "../ui/icon.tsx";
import type { IconName } from "../ui/icon-paths.ts";
import "./navigation.css";

/** Address of a page without its optional part: `/jobs/:job?` is `/jobs`. */
export function addressOf(page: PageRow): string {
  return page.path.split("/:")[0] || "/";
}

/** The bottom bar of a phone. */
export function BottomBar() {
  const session = useSession();
  const at = path.value;
  const main = pages.filter((page) => page.nav === "main" && isOffered(page, session));
  const isMain = main.some((page) => isAt(page, at));
  return (
    <nav class="bottom-bar" aria-label="Pages">
      {main.map((page) => (
        <Item
          key={page.path}
          icon={page.icon}
          title={page.title}
          to={addressOf(page)}
          isCurrent={isAt(page, at)}
        />
      ))}
      <Item icon="more" title="More" to="/more" isCurrent={!isMain} />
    </nav>
  );
}

/** All pages, in the left pane of a desk. */
export function SideNavigation() {
  const session = useSession();
  const at = path.value;
  return (
    <nav class="side-navigation" aria-label="Pages">
      {pages
        .filter((page) => page.nav !== "none" && isOffered(page, session))
        .map((page) => (
          <Item
            key={page.path}
            icon={page.icon}
            title={page.title}
            to={addressOf(page)}
            isCurrent={isAt(page, at)}
          />
        ))}
    </nav>
  );
}

interface ItemProps {
  readonly icon: IconName;
  readonly title: string;
  readonly to: string;
  readonly isCurrent: boolean;
}

function Item({ icon, title, to, isCurrent }: ItemProps) {
  const { waiting } = useSession();
  return (
    <a
      class={classes("nav-item", isCurrent && "current")}
      href={hrefOf(to)}
      aria-current={isCurrent ? "page" : undefined}
    >
      <Icon name={icon} />
      <span class="nav-word">{title}</span>
      {to === "/approvals" && <Badge count={waiting.value} label="wait for you" />}
    </a>
  );
}

/** Until the daemon was heard nobody knows what this device may do, and everything stands where it is going to stay. */
export function isOffered({ needs }: PageRow, session: Session): boolean {
  return session.snapshot.value === null || session.may(needs);
}

/** A conversation belongs to the work that it is part of. */
function isAt(page: PageRow, at: string): boolean {
  const address = addressOf(page);
  if (address === "/") return at === "/" || at.startsWith("/agent/") || at.startsWith("/?");
  return at === address || at.startsWith(`${address}/`) || at.startsWith(`${address}?`);
}
