import type { CommandOf } from "../../protocol/commands.ts";
import type { Tab, TrustedNow, Workspace, WorkspaceRow } from "../../protocol/objects.ts";
import type { Actor } from "../actor.ts";

export interface OpenedTab {
  readonly tab: Tab;
  /** What the folder brings along that can run something; null unless it became trusted just now. */
  readonly trusted_now: TrustedNow | null;
}

export interface Launched {
  readonly workspace: string;
  readonly tab: string;
  /** Null without a prompt. */
  readonly agent: string | null;
  readonly turn: string | null;
  readonly trusted_now: TrustedNow | null;
}

/** Workspaces and tabs as clients handle them. All throw `SallyportError` with the field that is meant. */
export interface Places {
  list(): readonly WorkspaceRow[];
  /** Id of the last used workspace. */
  last(): string;
  /** The whole workspace; whoever may drive makes it the last used one by opening it. Throws `not_found`. */
  open(workspace: string, actor: Actor): Workspace;
  create(command: CommandOf<"workspace_create">, actor: Actor): Promise<WorkspaceRow>;
  rename(command: CommandOf<"workspace_rename">, actor: Actor): Promise<WorkspaceRow>;
  /**
   * Deletes a workspace with its tabs; transcripts and jobs stay. Throws `not_found`, and `conflict`: `in_use` for the only
   * one or one that a client has open, `running` while agents of it run.
   *
   * @param isOpen whether a client has it open, asked in the moment before the file goes
   */
  remove(workspace: string, actor: Actor, isOpen: () => boolean): Promise<void>;
  openTab(command: CommandOf<"tab_create">, actor: Actor): Promise<OpenedTab>;
  /** Changes what new agents of a tab run, and with `project` what new tabs on its folder run. */
  setTabRuntime(command: CommandOf<"tab_runtime">, actor: Actor): Promise<Tab>;
  renameTab(command: CommandOf<"tab_rename">, actor: Actor): Promise<Tab>;
  /** Throws `invalid_field` (`index`) past the end. */
  moveTab(command: CommandOf<"tab_move">, actor: Actor): Promise<Tab>;
  activateTab(tab: string, actor: Actor): Promise<Tab>;
  launch(command: CommandOf<"launch">, actor: Actor): Promise<Launched>;
}
