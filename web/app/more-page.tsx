import { pages } from "../routes/pages.ts";
import { hrefOf } from "../state/router.ts";
import { useSession } from "../state/session.ts";
import { Icon } from "../ui/icon.tsx";
import { List, Row } from "../ui/list.tsx";
import { Page } from "../ui/page.tsx";
import { isOffered } from "./navigation.tsx";

/** On a phone: the pages that have no place in the bottom bar. */
export function MorePage() {
  const session = useSession();
  return (
    <Page title="More">
      <List label="Pages">
        {pages
          .filter((page) => page.nav === "more" && isOffered(page, session))
          .map((page) => (
            <Row
              key={page.path}
              lead={<Icon name={page.icon} />}
              title={page.title}
              href={hrefOf(page.path)}
            />
          ))}
      </List>
    </Page>
  );
}
