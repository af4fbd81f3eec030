import type { MewServerMessageOf } from "../../../protocol/mew/server-messages.ts";
import type { MewSpelling } from "../../../protocol/mew/spelling.ts";
import type { MewJobState, MewModelInfo, MewTodo } from "../../../protocol/mew/values.ts";
import type { JobState, Mode } from "../../../protocol/objects.ts";
import type { Model } from "../../../protocol/rest-objects.ts";

/** How values of the engine are called in the mew dialect. */
const jobStates: Readonly<Record<JobState, MewJobState>> = {
  running: "running",
  exited: "completed",
  killed: "cancelled",
  failed: "failed",
  lost: "failed",
};
export const jobState = (state: JobState): MewJobState => jobStates[state];

const modeNames: Readonly<Record<Mode, string>> = {
  ask: "standard",
  edits: "permissive",
  autopilot: "dangerous",
};
/** The permission mode of a tab, as a client knows it. */
export const modeName = (mode: Mode): string => modeNames[mode];

const modesByName: ReadonlyMap<string, Mode> = new Map([
  ["standard", "ask"],
  ["ask", "ask"],
  ["permissive", "edits"],
  ["edits", "edits"],
  ["dangerous", "autopilot"],
  ["autopilot", "autopilot"],
]);
/** The mode that a client means; null for one that we do not have: a mode is never guessed towards less asking. */
export const readMode = (raw: string): Mode | null => modesByName.get(raw) ?? null;

interface EngineTodo {
  readonly id: string;
  readonly content: string;
  readonly status: string;
}

/** Ids become numbers: the engine's own where all are different whole numbers, else the place in the list. */
export function todoList(todos: readonly EngineTodo[]): MewTodo[] {
  const numbers = todos.map(({ id }) => (/^\d{1,9}$/.test(id) ? Number(id) : null));
  const isUsable = numbers.every((number) => number !== null) && new Set(numbers).size === numbers.length;
  return todos.map(({ content, status }, at) => ({
    id: isUsable ? (numbers[at] ?? at + 1) : at + 1,
    content,
    status,
    depends_on: [],
  }));
}

/** A list as a connection in either spelling is told of it: real clients know a finished one as `done`. */
export function todosMessages(raw: readonly EngineTodo[]): {
  readonly [S in MewSpelling]: MewServerMessageOf<"todos_updated">;
} {
  const todos = todoList(raw);
  const withDone = todos.map((todo) => (todo.status === "completed" ? { ...todo, status: "done" } : todo));
  return { camel: { type: "todos_updated", todos }, snake: { type: "todos_updated", todos: withDone } };
}

/** The runtime is the provider; a runtime without models has none to name. */
export function modelFields(
  runtime: string,
  model: string | null,
): { readonly model?: string; readonly provider: string } {
  return model === null ? { provider: runtime } : { model, provider: runtime };
}

/** `id` is `runtime/model`, which `findModel` takes back. */
export function modelInfo(model: Model): MewModelInfo {
  const { thinking = [], context_tokens } = model;
  return {
    id: `${model.runtime}/${model.id}`,
    provider: model.runtime,
    model: model.id,
    ...(model.name === model.id ? {} : { description: model.name }),
    ...(thinking.length === 0 ? {} : { thinking_variants: thinking.map((name) => ({ name })) }),
    ...(context_tokens === null ? {} : { context_window: context_tokens }),
  };
}

/** The model that a client means by provider and name; null where there is none. */
export function findModel(models: readonly Model[], provider: string, name: string): Model | null {
  const fits = (model: Model): boolean =>
    (model.id === name && (provider === "" || provider === model.runtime)) ||
    model.id === `${provider}/${name}` ||
    `${model.runtime}/${model.id}` === `${provider}/${name}`;
  return models.find(fits) ?? null;
}
