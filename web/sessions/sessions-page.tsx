import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { SessionRow } from "../../src/protocol/rest-objects.ts";
import { useSession } from "../state/session.ts";
import { Button } from "../ui/button.tsx";
import { TextField } from "../ui/field.tsx";
import { List } from "../ui/list.tsx";
import { Page } from "../ui/page.tsx";
import { EmptyState, ErrorState, Spinner } from "../ui/states.tsx";
import { SavedSession } from "./saved-session.tsx";
import { useSessionPages } from "./session-pages.ts";
import { groupSessions } from "./session-rows.ts";

const typingPauseMs = 250;

/** Every conversation that was ever held here: find one, read it, go on with it, put it away. */
export function SessionsPage() {
  const typed = useSignal("");
  const search = useSignal("");
  const showsArchived = useSignal(false);
  useEffect(() => {
    const timer = setTimeout(() => {
      search.value = typed.value.trim();
    }, typingPauseMs);
    return () => clearTimeout(timer);
  }, [typed.value, search]);
  const pages = useSessionPages(search.value);
  const { pinned, others, archived } = groupSessions(pages.rows ?? []);
  const isEmpty = pages.rows !== null && pages.rows.length === 0;
  return (
    <Page title="Sessions" lead="Every conversation is kept on the daemon's machine.">
      <search>
        <TextField
          label="Search"
          hint="Looks in titles and in what was asked first."
          value={typed.value}
          onValue={(value) => {
            typed.value = value;
          }}
          keyboard="search"
          enterkeyhint="search"
          maxLength={200}
        />
      </search>
      <p role="status" class="unseen">
        {pages.rows === null || search.value === "" ? "" : foundText(pages.rows.length, pages.hasMore)}
      </p>
      {pages.problem !== null && <ErrorState problem={pages.problem} onRetry={pages.reload} />}
      {pages.rows === null && pages.problem === null && <Spinner />}
      {isEmpty && <Nothing search={search.value} />}
      <Group title="Pinned" rows={pinned} />
      <Group
        title={pinned.length > 0 ? "All others" : "All"}
        isTitleShown={pinned.length > 0}
        rows={others}
      />
      {archived.length > 0 && (
        <Button
          kind="quiet"
          icon={showsArchived.value ? "up" : "down"}
          onClick={() => {
            showsArchived.value = !showsArchived.value;
          }}
        >
          {showsArchived.value ? "Hide what was put away" : `Show ${archived.length} that were put away`}
        </Button>
      )}
      {showsArchived.value && <Group title="Put away" rows={archived} />}
      {pages.hasMore && (
        <Button isWide isBusy={pages.isLoading} onClick={pages.loadMore}>
          Show older ones
        </Button>
      )}
    </Page>
  );
}

interface GroupProps {
  readonly title: string;
  readonly rows: readonly SessionRow[];
  readonly isTitleShown?: boolean;
}

function Group({ title, rows, isTitleShown = true }: GroupProps) {
  const { may } = useSession();
  if (rows.length === 0) return null;
  return (
    <section>
      {isTitleShown && <h2>{title}</h2>}
      <List label={title}>
        {rows.map((row) => (
          <SavedSession key={row.id} row={row} mayChange={may("drive")} />
        ))}
      </List>
    </section>
  );
}

function Nothing({ search }: { readonly search: string }) {
  return search === "" ? (
    <EmptyState icon="sessions" title="No conversation yet">
      <p>Begin one on the page Work; it is kept here.</p>
    </EmptyState>
  ) : (
    <EmptyState icon="search" title="Nothing was found">
      <p>All words have to be in the title or in what was asked first.</p>
    </EmptyState>
  );
}

function foundText(count: number, hasMore: boolean): string {
  return hasMore ? `More than ${count} found` : `${count} found`;
}
