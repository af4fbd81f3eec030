import type { Scope } from "../protocol/scopes.ts";

/**
 * Which scopes each way in needs: every REST route, socket, native command and mew message has a row here, and a route
 * or command refers to its row beside its handler. What has no row does not start the daemon. `public` needs no credential.
 */
export interface ScopeRow {
  /** All of these are needed. `public`: no credential is looked at. */
  readonly needs: "public" | readonly Scope[];
  /** Further scopes that depend on what the (schema-valid) input asks for. */
  readonly alsoNeeds?: (input: Readonly<Record<string, unknown>>) => readonly Scope[];
}

const open: ScopeRow = { needs: "public" };
const view: ScopeRow = { needs: ["view"] };
const drive: ScopeRow = { needs: ["drive"] };
const admin: ScopeRow = { needs: ["admin"] };
/** A paired device may always do this to itself; the handler checks whose it is. */
const anyDevice: ScopeRow = { needs: [] };

/** A mode in which something runs without a further question needs `drive` and `approve` (docs/adr/0003). */
const modeEscalates = (input: Readonly<Record<string, unknown>>): readonly Scope[] =>
  input.mode === "edits" || input.mode === "autopilot" ? ["approve"] : [];

export const routeScopes = {
  "GET /api/hello": open,
  "POST /api/pair": open,
  "POST /api/pair/codes": admin,
  "GET /api/devices": anyDevice,
  "PATCH /api/devices/:id": anyDevice,
  "DELETE /api/devices/:id": anyDevice,
  "GET /api/remote": view,
  "POST /api/remote": admin,
  "POST /api/tunnel": admin,
  "DELETE /api/tunnel": admin,
  "GET /api/daemon": view,
  "POST /api/daemon/stop": admin,
  "GET /api/snapshot": view,
  "POST /api/command": anyDevice,
  "GET /api/workspaces": view,
  "GET /api/jobs": view,
  "GET /api/jobs/:id/output": view,
  "GET /api/fs": drive,
  "GET /api/sessions": view,
  "GET /api/sessions/:id": view,
  "DELETE /api/sessions/:id": drive,
  "GET /api/usage": view,
  "GET /api/settings": view,
  "PATCH /api/settings": admin,
  "GET /api/models": view,
  "GET /api/tools": view,
  "GET /api/memory": view,
  "GET /api/update": view,
  "GET /api/push": view,
  "POST /api/push": view,
  /** Whoever lost `view` has none any more; switching off is never refused. */
  "DELETE /api/push/:id": anyDevice,
  "GET /api/push/messages/:id": view,
  "GET /api/openapi.json": anyDevice,
  "POST /api/ws/ticket": anyDevice,
  "SOCKET /api/ws": view,
  "SOCKET /mew": view,
  /** For clients of the mew dialect that know no path. */
  "SOCKET /": view,
} as const satisfies Record<string, ScopeRow>;

export const commandScopes = {
  prompt: drive,
  receipt: drive,
  cancel: drive,
  approve: {
    needs: ["approve"],
    alsoNeeds: (input) => (input.decision === "allow_session" ? ["drive"] : []),
  },
  answer: { needs: ["approve"] },
  mode: { needs: ["drive"], alsoNeeds: modeEscalates },
  agent_start: drive,
  agent_close: drive,
  agent_open: drive,
  agent_activate: drive,
  compact: drive,
  clear: drive,
  thinking: drive,
  session_update: drive,
  model: drive,
  tab_create: { needs: ["drive"], alsoNeeds: modeEscalates },
  tab_close: drive,
  tab_activate: drive,
  tab_rename: drive,
  tab_runtime: drive,
  tab_move: drive,
  launch: { needs: ["drive"], alsoNeeds: modeEscalates },
  workspace_list: view,
  workspace_create: drive,
  /** Shows another workspace on one connection; only who may drive makes it the last used by it. */
  workspace_open: view,
  workspace_rename: drive,
  workspace_delete: drive,
  /** With `drive` alone the job becomes a permission request instead of a refusal; the engine decides. */
  job_start: drive,
  job_list: view,
  job_output: view,
  job_follow: view,
  job_kill: drive,
  snapshot: view,
  /** Changes no part of the gate, and ends with the daemon. */
  keep_awake: drive,
  control_permissions: {
    needs: ["view"],
    alsoNeeds: (input) => (input.request === true ? ["drive"] : []),
  },
  ping: anyDevice,
} as const satisfies Record<string, ScopeRow>;

const approve: ScopeRow = { needs: ["approve"] };
/** Nothing is done for it but to say so. */
const refused: ScopeRow = { needs: [] };

/** Messages of the mew dialect, by their snake_case tags. */
export const mewScopes = {
  new_session: drive,
  attach_session: view,
  list_sessions: view,
  prompt: drive,
  submit_prompt: drive,
  read_prompt_receipt: drive,
  read_job_output: view,
  cancel: drive,
  permission_response: {
    needs: ["approve"],
    alsoNeeds: (input) => (input.decision === "allow_session" ? ["drive"] : []),
  },
  ask_user_response: approve,
  slash_command: drive,
  list_models: view,
  switch_model: drive,
  set_thinking_variant: drive,
  ping: anyDevice,
  list_projects: view,
  regenerate_title: drive,
  load_session_history: view,
  delete_session: drive,
  rename_session: drive,
  set_auto_title: view,
  set_auto_summary: view,
  guide: drive,
  /** Whatever is not the mode that always asks may let something run without a further question. */
  set_permission_mode: {
    needs: ["drive"],
    alsoNeeds: (input) => (input.mode === "standard" || input.mode === "ask" ? [] : ["approve"]),
  },
  yield_control: view,
  archive_session: drive,
  pin_session: drive,
  list_dir: drive,
  list_filesystem_dir: drive,
  read_file_preview: drive,
  git_status: refused,
  watch_workspace: refused,
  pin_project: refused,
  list_personas: view,
  remote_hello: refused,
  new_session_in_group: refused,
  plan_approval_response: refused,
  goal_response: refused,
  create_group: refused,
  update_group: refused,
  delete_group: refused,
  assign_session_group: refused,
  open_path: refused,
  unflag_file: refused,
  switch_persona: refused,
  browser_open: refused,
  browser_snapshot: refused,
  browser_screenshot: refused,
  browser_click: refused,
  browser_fill: refused,
  browser_press: refused,
  browser_close: refused,
  terminal_open: refused,
  terminal_input: refused,
  terminal_resize: refused,
  terminal_close: refused,
} as const satisfies Record<string, ScopeRow>;

/**
 * The scopes that are missing for a row, in the order of the row; empty means allowed.
 *
 * @param held what the principal holds now
 * @param input the schema-valid body, command or message
 */
export function missingScopes(
  row: ScopeRow,
  held: ReadonlySet<Scope>,
  input: Readonly<Record<string, unknown>>,
): readonly Scope[] {
  if (row.needs === "public") return [];
  return [...row.needs, ...(row.alsoNeeds?.(input) ?? [])].filter((scope) => !held.has(scope));
}
