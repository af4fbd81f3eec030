import { SallyportError } from "../../../errors.ts";
import type { MewHandlers } from "../message-table.ts";
import { findModel, modelFields, modelInfo, readMode } from "../translate/values.ts";
import { attached, onTab } from "./find-session.ts";

type SettingMessages = Pick<
  MewHandlers,
  | "list_models"
  | "switch_model"
  | "set_thinking_variant"
  | "set_permission_mode"
  | "set_auto_title"
  | "set_auto_summary"
  | "yield_control"
  | "list_personas"
  | "ping"
>;

const thinkingOff: ReadonlySet<string> = new Set(["", "off", "none"]);

/** Models, thinking, modes and what a client says of itself. */
export const settingMessages: SettingMessages = {
  ping(_message, { client, version }) {
    client.send({ type: "pong", version, protocol_version: 3 });
  },
  list_models(_message, { client, engine }) {
    client.send({ type: "model_list", models: engine.library.models().models.map(modelInfo) });
  },
  async switch_model({ provider, model: name }, context) {
    const session = attached(context);
    const { client, engine } = context;
    const model = findModel(engine.library.models().models, provider, name);
    if (!model)
      throw new SallyportError(
        "invalid_field",
        "failed to switch model: there is no such model. See ListModels.",
      );
    await onTab(session.agent, context);
    const before = session.model;
    const agent = await engine.setModel(
      { type: "model", agent: session.agent, model: model.id },
      client.actor,
    );
    // Where nothing changed, nobody was told.
    const { model: named = "", provider: runtime } = modelFields(agent.runtime, agent.model);
    if (agent.model === before) client.send({ type: "model_switched", provider: runtime, model: named });
  },
  async set_thinking_variant({ variant }, context) {
    const session = attached(context);
    const { client, engine } = context;
    await onTab(session.agent, context);
    const before = session.thinking;
    const thinking = thinkingOff.has(variant.toLowerCase()) ? null : variant;
    const agent = await engine.sessions.setThinking(
      { type: "thinking", agent: session.agent, thinking },
      client.actor,
    );
    const now = agent.thinking ?? null;
    if (now === before) client.send({ type: "thinking_variant_changed", variant: now });
  },
  async set_permission_mode({ mode: name }, context) {
    const session = attached(context);
    const { client, engine } = context;
    const mode = readMode(name);
    if (mode === null)
      throw new SallyportError(
        "invalid_field",
        "unknown permission mode; there are: standard, permissive, dangerous.",
      );
    await onTab(session.agent, context);
    if (session.tab === null) throw new SallyportError("conflict", "This session is on no tab.");
    const before = session.mode;
    await engine.setMode({ type: "mode", tab: session.tab, mode }, client.actor);
    if (before === mode) client.send({ type: "permission_mode_changed", mode: name });
  },
  set_auto_title({ enabled }, { client }) {
    client.autoTitle = enabled;
  },
  /** There are no summaries: nothing to switch, and nothing that a client would wait for. */
  set_auto_summary: () => undefined,
  yield_control(_message, context) {
    const session = attached(context);
    const id = session.clients.get(context.client);
    if (id === undefined) return;
    for (const client of session.clients.keys()) client.send({ type: "control_yielded", client_id: id });
  },
  list_personas(_message, { client }) {
    client.send({ type: "persona_list", personas: [] });
  },
};
