import { SallyportError } from "../../errors.ts";
import type { CommandOf } from "../../protocol/commands.ts";
import type { TrustedNow } from "../../protocol/objects.ts";
import type { Actor } from "../actor.ts";
import { noWorkspace } from "../not-found.ts";
import type { PromptReceipt } from "../receipts/prompt-receipt.ts";
import { checkedName } from "./checked-name.ts";
import type { Places } from "./places.ts";
import { type TabCommands, tabNameOf } from "./tab-commands.ts";
import type { TabPlaces } from "./tab-places.ts";
import type { WorkspaceCommands } from "./workspace-commands.ts";
import type { TabDoc, WorkspaceDoc } from "./workspace-doc.ts";
import type { Workspaces } from "./workspaces.ts";

export interface LaunchOptions {
  readonly workspaces: Workspaces;
  readonly workspaceCommands: WorkspaceCommands;
  readonly tabCommands: TabCommands;
  readonly tabPlaces: TabPlaces;
  readonly prompt: (command: CommandOf<"prompt">, actor: Actor) => Promise<PromptReceipt>;
  readonly resolveCwd: (rawCwd: string, bounded: boolean) => Promise<string>;
  /** Where a workspace without a tab begins when nobody names a folder. */
  readonly startFolder: string;
  readonly assertOpen: () => void;
  readonly report: (problem: string) => void;
}

interface Chosen {
  readonly workspace: WorkspaceDoc;
  readonly isNew: boolean;
}

/**
 * What a command line does when it is started: a workspace (the last, a new one, or one by name or id), in it the tab for
 * a folder, found or made, and in that a prompt to a new agent. A workspace that was made for it goes again when the rest
 * is refused.
 */
export function createLaunch(options: LaunchOptions): Places["launch"] {
  const { workspaces, tabCommands } = options;
  const { store } = workspaces;

  async function choose(
    wanted: CommandOf<"launch">["workspace"],
    cwd: string | null,
    actor: Actor,
  ): Promise<Chosen> {
    if (wanted === undefined || wanted === "last") return { workspace: workspaces.last(), isNew: false };
    if (wanted !== "new" && "id" in wanted) {
      const workspace = store.get(wanted.id);
      if (!workspace) throw noWorkspace();
      return { workspace, isNew: false };
    }
    const name = wanted === "new" ? tabNameOf(cwd ?? options.startFolder) : checkedName(wanted.name);
    if (wanted !== "new") {
      const named = store.list().filter((doc) => doc.name === name);
      const newest = named.sort((a, b) => (a.used < b.used ? 1 : -1))[0];
      if (newest) return { workspace: newest, isNew: false };
    }
    const { id } = await options.workspaceCommands.create({ type: "workspace_create", name }, actor);
    const workspace = store.get(id);
    if (!workspace) throw noWorkspace();
    return { workspace, isNew: true };
  }

  function tabFor(workspace: WorkspaceDoc, cwd: string | null): TabDoc | undefined {
    const tabs = workspace.tabs.filter((tab) => !tabCommands.isClosing(tab.id));
    const fits = cwd === null ? tabs : tabs.filter((tab) => tab.cwd === cwd);
    return fits.find((tab) => tab.id === workspace.active_tab) ?? fits[0];
  }

  async function openTab(
    workspace: WorkspaceDoc,
    cwd: string | null,
    command: CommandOf<"launch">,
    actor: Actor,
  ): Promise<{ readonly tab: string; readonly trusted_now: TrustedNow | null }> {
    const found = tabFor(workspace, cwd);
    if (!found) {
      const opened = await tabCommands.open(
        {
          type: "tab_create",
          workspace: workspace.id,
          cwd: cwd ?? options.startFolder,
          ...(command.mode === undefined ? {} : { mode: command.mode }),
        },
        actor,
      );
      return { tab: opened.tab.id, trusted_now: opened.trusted_now };
    }
    const trusted_now = cwd === null ? null : await tabCommands.trust(found.cwd, actor);
    if (command.mode !== undefined && command.mode !== found.mode)
      await tabCommands.setMode({ type: "mode", tab: found.id, mode: command.mode }, actor);
    await options.tabPlaces.activateTab(found.id, actor);
    return { tab: found.id, trusted_now };
  }

  return async (command, actor) => {
    options.assertOpen();
    actor.assertLive();
    const { text } = command;
    if (text !== undefined && text.trim() === "")
      throw new SallyportError("invalid_field", "The prompt is empty; leave `text` out to send none.", {
        field: "text",
      });
    const cwd = command.cwd === undefined ? null : await options.resolveCwd(command.cwd, !actor.has("admin"));
    const { workspace, isNew } = await choose(command.workspace, cwd, actor);
    try {
      const { tab, trusted_now } = await openTab(workspace, cwd, command, actor);
      const receipt = text === undefined ? null : await options.prompt({ type: "prompt", tab, text }, actor);
      workspaces.touch(workspace.id);
      return {
        workspace: workspace.id,
        tab,
        agent: receipt?.agent ?? null,
        turn: receipt?.turn ?? null,
        trusted_now,
      };
    } catch (error) {
      if (isNew) await discard(workspace.id, actor);
      throw error;
    }
  };

  async function discard(id: string, actor: Actor): Promise<void> {
    await options.workspaceCommands
      .remove(id, actor, () => false)
      .catch((error: Error) => options.report(`workspace ${id} could not be taken back: ${error.message}`));
  }
}
