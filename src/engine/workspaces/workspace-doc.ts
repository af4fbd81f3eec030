import { type Static, Type } from "typebox";
import { createChecker } from "../../lib/checker.ts";
import { isId } from "../../lib/ids.ts";
import { type FileFormat, migrateText } from "../../lib/migrate.ts";
import { ModeSchema } from "../../protocol/objects.ts";
import { engineLimits } from "../engine-limits.ts";

/** What `workspaces/<id>.json` holds. Never changed in place: each change makes a new document. */
const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);
const Id = Type.String({ maxLength: 64 });
const Label = Type.String({ maxLength: 1_000 });
const Time = Type.String({ maxLength: 64 });

const AgentDocSchema = Type.Object({
  id: Id,
  parent: nullable(Id),
  label: nullable(Label),
  title: nullable(Label),
  runtime: Type.String({ minLength: 1, maxLength: 64 }),
  model: nullable(Type.String({ maxLength: 200 })),
  thinking: Type.Optional(nullable(Type.String({ maxLength: 64 }))),
  updated: Time,
});
const TabDocSchema = Type.Object({
  id: Id,
  name: Label,
  /** Real path of the folder. */
  cwd: Type.String({ minLength: 1, maxLength: 8_192 }),
  mode: ModeSchema,
  runtime: Type.String({ minLength: 1, maxLength: 64 }),
  /** Of new agents; absent or null: as the runtime chooses. */
  model: Type.Optional(nullable(Type.String({ maxLength: 200 }))),
  active_agent: nullable(Id),
  /** Set while the tab moves from another workspace: until that one's file is written, both have it. */
  moved_from: Type.Optional(Id),
  agents: Type.Array(AgentDocSchema, { maxItems: engineLimits.agentsPerTab }),
});
const WorkspaceDocSchema = Type.Object({
  version: Type.Literal(1),
  id: Id,
  name: Label,
  used: Time,
  active_tab: nullable(Id),
  tabs: Type.Array(TabDocSchema, { maxItems: engineLimits.tabsPerWorkspace }),
});

type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: Frozen<T[K]> }
    : T;
export type AgentDoc = Frozen<Static<typeof AgentDocSchema>>;
export type TabDoc = Frozen<Static<typeof TabDocSchema>>;
export type WorkspaceDoc = Frozen<Static<typeof WorkspaceDocSchema>>;

/** The format of `workspaces/<id>.json`, and how older ones become it. */
export const workspaceFormat: FileFormat = { version: 1, migrations: [] };

const schema = createChecker(WorkspaceDocSchema);

/**
 * Parses the text of a workspace file. Returns the document, or in a phrase what is wrong with it.
 *
 * @param expectedId the id in the file's name
 */
export function parseWorkspace(text: string, expectedId: string): WorkspaceDoc | string {
  const found = migrateText(text, workspaceFormat);
  if (!found.ok) return found.problem;
  const { value } = found;
  if (!schema.check(value)) {
    return `it is not a workspace (${schema.firstWrong(value) || "/"})`;
  }
  if (value.id !== expectedId) return "its id is not the one in its name";
  const ids = idsOf(value);
  if (!ids.every(isId)) return "it has an id that is none";
  if (new Set(ids).size !== ids.length) return "it has an id twice";
  return value;
}

/** All ids of tabs and agents in a document, and its own. */
export function idsOf(doc: WorkspaceDoc): string[] {
  return [doc.id, ...doc.tabs.flatMap((tab) => [tab.id, ...tab.agents.map((agent) => agent.id)])];
}

export function formatWorkspace(doc: WorkspaceDoc): string {
  return `${JSON.stringify(doc, null, 1)}\n`;
}

/** The document with one tab changed. A tab that is not there any more changes nothing. */
export function withTab(doc: WorkspaceDoc, tabId: string, change: (tab: TabDoc) => TabDoc): WorkspaceDoc {
  return { ...doc, tabs: doc.tabs.map((tab) => (tab.id === tabId ? change(tab) : tab)) };
}

/** The document without one tab; when that was the active one, a neighbour is. */
export function withoutTab(doc: WorkspaceDoc, tabId: string): WorkspaceDoc {
  const index = doc.tabs.findIndex((tab) => tab.id === tabId);
  const tabs = doc.tabs.filter((tab) => tab.id !== tabId);
  const neighbour = tabs[index] ?? tabs[index - 1];
  return { ...doc, tabs, active_tab: doc.active_tab === tabId ? (neighbour?.id ?? null) : doc.active_tab };
}

/** The document with one agent changed, wherever it is. */
export function withAgent(
  doc: WorkspaceDoc,
  agentId: string,
  change: (agent: AgentDoc) => AgentDoc,
): WorkspaceDoc {
  const changed = (tab: TabDoc): TabDoc =>
    tab.agents.some((agent) => agent.id === agentId)
      ? { ...tab, agents: tab.agents.map((agent) => (agent.id === agentId ? change(agent) : agent)) }
      : tab;
  return { ...doc, tabs: doc.tabs.map(changed) };
}
