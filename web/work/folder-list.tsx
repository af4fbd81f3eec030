import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Folder } from "../../src/protocol/rest-objects.ts";
import { errorText } from "../state/error-text.ts";
import { useSession } from "../state/session.ts";
import { toast } from "../state/toasts.ts";
import { Button } from "../ui/button.tsx";
import { TextField } from "../ui/field.tsx";
import { Icon } from "../ui/icon.tsx";
import { List, Row } from "../ui/list.tsx";
import { visible } from "../ui/visible-text.ts";

interface FolderListProps {
  /** The first page of the folder. */
  readonly folder: Folder;
  readonly onGo: (path: string) => void;
}

/** Fewer are found by looking. */
const searchedFrom = 12;

/** The folders in a folder, with what their repositories have checked out. */
export function FolderList({ folder, onGo }: FolderListProps) {
  const { rest } = useSession();
  const more = useSignal<readonly Folder[]>([]);
  const search = useSignal("");
  const isLoading = useSignal(false);
  useEffect(() => {
    more.value = [];
    search.value = "";
  }, [folder, more, search]);

  const last = more.value.at(-1) ?? folder;
  const all = [folder, ...more.value]
    .flatMap(({ entries }) => entries)
    .filter(({ kind, hidden }) => kind === "folder" && !hidden);
  const wanted = search.value.trim().toLowerCase();
  const shown = all.filter(({ name }) => name.toLowerCase().includes(wanted));

  async function loadMore(after: string): Promise<void> {
    isLoading.value = true;
    try {
      const query = new URLSearchParams({ path: folder.path, limit: "500", after });
      more.value = [...more.value, await rest.body<Folder>("GET", `/api/fs?${query}`)];
    } catch (error) {
      toast(errorText(error), { kind: "problem" });
    }
    isLoading.value = false;
  }

  return (
    <>
      {all.length >= searchedFrom && (
        <TextField
          label="Find a folder here"
          value={search.value}
          onValue={(value) => {
            search.value = value;
          }}
          keyboard="search"
          autocapitalize="off"
          autocomplete="off"
          isProse={false}
        />
      )}
      <List label={`Folders in ${visible(folder.path)}`}>
        {shown.map(({ name, path, git }) => (
          <Row
            key={path}
            lead={<Icon name="folder" />}
            title={visible(name)}
            detail={
              git !== null && (
                <>
                  <Icon name="branch" /> {visible(git)}
                </>
              )
            }
            onClick={() => onGo(path)}
          />
        ))}
      </List>
      {shown.length === 0 && (
        <p class="quiet-text">{all.length === 0 ? "No folders in here." : "No folder here is called so."}</p>
      )}
      {last.next !== null && (
        <Button isWide isBusy={isLoading.value} onClick={() => void loadMore(last.next ?? "")}>
          Show more
        </Button>
      )}
      {last.truncated && <p class="quiet-text">There are more than can be shown.</p>}
    </>
  );
}
