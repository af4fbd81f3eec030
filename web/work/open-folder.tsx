import { useSignal } from "@preact/signals";
import type { TrustedNow } from "../../src/protocol/objects.ts";
import type { Folder, ModelList, SessionList } from "../../src/protocol/rest-objects.ts";
import { errorText } from "../state/error-text.ts";
import { useSession } from "../state/session.ts";
import { useRest } from "../state/use-rest.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { List, Row } from "../ui/list.tsx";
import { ErrorState, Spinner } from "../ui/states.tsx";
import { visible } from "../ui/visible-text.ts";
import { FolderList } from "./folder-list.tsx";
import { crumbsOf, lastPart, recentFolders } from "./folder-path.ts";
import { RuntimeField } from "./runtime-field.tsx";
import { TrustFindings } from "./trust-findings.tsx";
import "./open-folder.css";

const maxRecent = 5;

/** Chooses a folder of the daemon's machine and opens a tab for it. */
export function OpenFolder({ onClose }: { readonly onClose: () => void }) {
  const session = useSession();
  const at = useSignal<string | null>(null);
  const query = at.value === null ? "" : `&path=${encodeURIComponent(at.value)}`;
  const folder = useRest<Folder>(`/api/fs?limit=500${query}`);
  const models = useRest<ModelList>("/api/models");
  const sessions = useRest<SessionList>("/api/sessions?limit=100");
  const runtime = useSignal<string | null>(null);
  const problem = useSignal<string | null>(null);
  const isBusy = useSignal(false);
  const trusted = useSignal<{ readonly tab: string; readonly found: TrustedNow } | null>(null);
  const open = session.tabs.value.map(({ cwd }) => cwd);
  const recent = recentFolders(sessions.value?.sessions ?? [], open, maxRecent);
  const chosenRuntime = runtime.value ?? models.value?.default_runtime ?? null;

  async function create(cwd: string): Promise<void> {
    isBusy.value = true;
    problem.value = null;
    try {
      const reply = await session.client.command({
        type: "tab_create",
        cwd,
        ...(runtime.value === null ? {} : { runtime: runtime.value }),
        ...(session.workspace.peek() === null ? {} : { workspace: session.workspace.peek()?.id ?? "" }),
      });
      const found = reply.trusted_now;
      if (found !== undefined && hasSomething(found)) trusted.value = { tab: reply.tab, found };
      else onClose();
    } catch (error) {
      problem.value = errorText(error);
    }
    isBusy.value = false;
  }

  if (trusted.value !== null) {
    const { tab, found } = trusted.value;
    return (
      <Dialog
        key="trusted"
        title="This folder is trusted now"
        onClose={onClose}
        actions={
          <>
            <Button
              onClick={() => {
                onClose();
                void session.act({ type: "tab_close", tab });
              }}
            >
              Close the tab again
            </Button>
            <Button kind="primary" onClick={onClose}>
              I know these
            </Button>
          </>
        }
      >
        <TrustFindings found={found} />
      </Dialog>
    );
  }
  const here = folder.value;
  return (
    <Dialog
      key="choose"
      title="Open a folder"
      size="large"
      class="open-folder"
      onClose={onClose}
      actions={
        <Button
          kind="primary"
          icon="folder"
          isBusy={isBusy.value}
          disabled={here === null}
          onClick={() => here !== null && void create(here.path)}
        >
          {here === null ? "Open" : `Open ${visible(lastPart(here.path))}`}
        </Button>
      }
    >
      <p role="alert" class="problem-text">
        {problem.value}
      </p>
      {at.value === null && recent.length > 0 && (
        <section>
          <h3>Recent</h3>
          <List label="Recent folders">
            {recent.map((cwd) => (
              <Row
                key={cwd}
                lead={<Icon name="sessions" />}
                title={visible(lastPart(cwd))}
                detail={visible(cwd)}
                onClick={() => void create(cwd)}
              />
            ))}
          </List>
        </section>
      )}
      {models.value !== null && chosenRuntime !== null && (
        <RuntimeField
          list={models.value}
          value={chosenRuntime}
          onValue={(name) => {
            runtime.value = name;
          }}
        />
      )}
      {folder.problem !== null && <ErrorState problem={folder.problem} onRetry={folder.reload} />}
      {here === null && folder.problem === null && <Spinner />}
      {here !== null && (
        <>
          <Crumbs folder={here} onGo={(path) => (at.value = path)} />
          {here.parent === null && (
            <p class="field-hint">
              Folders in <code>{visible(here.root)}</code> can be opened from here. Where else:{" "}
              <code>browse_root</code> in config.toml.
            </p>
          )}
          <FolderList key={here.path} folder={here} onGo={(path) => (at.value = path)} />
        </>
      )}
    </Dialog>
  );
}

function Crumbs({ folder, onGo }: { readonly folder: Folder; readonly onGo: (path: string) => void }) {
  const crumbs = crumbsOf(folder.root, folder.path);
  return (
    <nav class="crumbs" aria-label="The way to this folder">
      <ol>
        {crumbs.map(({ name, path }, index) => (
          <li key={path}>
            <button
              type="button"
              aria-current={index === crumbs.length - 1 ? "location" : undefined}
              onClick={() => onGo(path)}
            >
              {visible(name)}
            </button>
          </li>
        ))}
      </ol>
    </nav>
  );
}

function hasSomething({ hooks, mcp_servers, commands, incomplete }: TrustedNow): boolean {
  return hooks.length + mcp_servers.length + commands.length > 0 || incomplete;
}
