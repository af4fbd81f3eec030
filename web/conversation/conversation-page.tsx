import type { PageProps } from "../routes/page-row.ts";
import { hrefOf } from "../state/router.ts";
import { useSession } from "../state/session.ts";
import { Page } from "../ui/page.tsx";
import { EmptyState } from "../ui/states.tsx";

export function ConversationPage({ params }: PageProps) {
  const agent = useSession().agents.value.get(params.agent ?? "");
  return (
    <Page
      title={agent?.title ?? agent?.label ?? "Conversation"}
      layout="full"
      back={{ href: hrefOf("/"), label: "Back to work" }}
    >
      <EmptyState icon="chat" title="Nothing here yet" />
    </Page>
  );
}
