import { SallyportError } from "../../../errors.ts";
import type { Folder, FolderEntry } from "../../../protocol/rest-objects.ts";
import type { MewHandlers } from "../message-table.ts";
import { agentOf } from "./find-session.ts";

type FileMessages = Pick<
  MewHandlers,
  "list_dir" | "list_filesystem_dir" | "read_file_preview" | "git_status" | "watch_workspace" | "pin_project"
>;

const maxPreviewBytes = 1024 * 1024;

/** Folders first, then by name; what is hidden stays hidden. */
function entriesOf({ entries }: Folder, foldersOnly: boolean) {
  const shown = entries.filter((entry) => !entry.hidden && (!foldersOnly || entry.kind === "folder"));
  const isFolder = ({ kind }: FolderEntry): boolean => kind === "folder";
  return [...shown.filter(isFolder), ...shown.filter((entry) => !isFolder(entry))].map((entry) => ({
    name: entry.name,
    is_dir: isFolder(entry),
    ...(entry.bytes === null ? {} : { size: entry.bytes }),
  }));
}

function languageOf(path: string): string | undefined {
  return /[^/]\.([A-Za-z0-9]{1,16})$/.exec(path)?.[1];
}

function notSupported(what: string): SallyportError {
  return new SallyportError("not_supported", `not supported by this daemon: ${what}`);
}

/** Looking into folders and files. The engine opens them, and nothing outside the session's folder or in the home. */
export const fileMessages: FileMessages = {
  async list_dir({ session_id, path = "" }, { client, engine }) {
    const folder = await engine.sessions.listFolder({ session: agentOf(session_id), path }, client.actor);
    client.send({ type: "dir_listing", session_id, path, entries: entriesOf(folder, false) });
  },
  async list_filesystem_dir({ path = "" }, { client, engine }) {
    const folder = await engine.library.browse(path === "" ? {} : { path });
    client.send({ type: "filesystem_dir_listing", path: folder.path, entries: entriesOf(folder, true) });
  },
  async read_file_preview({ session_id, path, max_bytes }, { client, engine }) {
    const preview = await engine.sessions.previewFile(
      { session: agentOf(session_id), path, maxBytes: Math.min(max_bytes, maxPreviewBytes) },
      client.actor,
    );
    const language = languageOf(path);
    client.send({
      type: "file_preview",
      path,
      content: preview.text,
      truncated: preview.truncated,
      ...(language === undefined ? {} : { language }),
    });
  },
  git_status() {
    throw notSupported("git_status");
  },
  watch_workspace({ enabled }) {
    if (enabled) throw notSupported("watch_workspace");
  },
  pin_project() {
    throw notSupported("pin_project");
  },
};
