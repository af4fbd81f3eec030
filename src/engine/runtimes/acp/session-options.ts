import { limits } from "../../../protocol/limits.ts";
import { acpLimits } from "./acp-limits.ts";
import { countOf, listOf, objectOf, type RawObject, textOf } from "./raw-values.ts";

export interface AcpModel {
  readonly id: string;
  readonly name: string;
  readonly contextTokens: number | null;
}

/** What a session lets one choose, as the agent tells it; the parts that it does not have are empty. */
export interface SessionOptions {
  readonly models: readonly AcpModel[];
  readonly model: string | null;
  /** How the model is set: by a configuration option with this id, or by `session/set_model`. */
  readonly modelOption: string | null;
  readonly thinkingLevels: readonly string[];
  readonly thinking: string | null;
  readonly thinkingOption: string | null;
  readonly mode: string | null;
  readonly modes: readonly { readonly id: string; readonly name: string }[];
}

/** Reads the answer to `session/new`, `session/load` or `session/resume`: configuration options, or the older `models` and `modes`. */
export function readSessionOptions(rawAnswer: unknown): SessionOptions {
  const answer = objectOf(rawAnswer);
  const models = objectOf(answer.models);
  const modes = objectOf(answer.modes);
  return withCurrent({
    models: readModels(listOf(models.availableModels, acpLimits.models)),
    model: textOf(models.currentModelId, limits.modelChars),
    modelOption: null,
    thinkingLevels: [],
    thinking: null,
    thinkingOption: null,
    mode: textOf(modes.currentModeId, 200),
    modes: listOf(modes.availableModes, 100).flatMap((raw) => {
      const { id, name } = objectOf(raw);
      return typeof id === "string" ? [{ id, name: textOf(name, 200) ?? id }] : [];
    }),
    ...readConfigOptions(answer.configOptions),
  });
}

/** Some agents were started with a model that is not in their own list; it can be gone back to. */
function withCurrent<T extends Partial<SessionOptions>>(options: T): T {
  const { models = [], model = null } = options;
  if (model === null || models.length === 0 || models.some(({ id }) => id === model)) return options;
  return { ...options, models: [...models, { id: model, name: model, contextTokens: null }] };
}

/** What configuration options say of model and thinking; only what they say. */
export function readConfigOptions(rawOptions: unknown): Partial<SessionOptions> {
  const options = listOf(rawOptions, 100).map(objectOf);
  const model = options.find((option) => isOf(option, "model"));
  const thinking = options.find((option) => isOf(option, "thought_level"));
  return withCurrent({
    ...(model && {
      models: readModels(choicesOf(model)),
      model: textOf(model.currentValue, limits.modelChars),
      modelOption: textOf(model.id, 200),
    }),
    ...(thinking && {
      thinkingLevels: choicesOf(thinking).flatMap(
        (raw) => textOf(objectOf(raw).value, limits.modelChars) ?? [],
      ),
      thinking: textOf(thinking.currentValue, limits.modelChars),
      thinkingOption: textOf(thinking.id, 200),
    }),
  });
}

function isOf(option: RawObject, category: string): boolean {
  return typeof option.id === "string" && (option.category ?? option.id) === category;
}

/** The choices of a select option, those of groups one behind the other. */
function choicesOf(option: RawObject): readonly unknown[] {
  return listOf(option.options, acpLimits.models).flatMap((choice) => {
    const group = objectOf(choice).options;
    return Array.isArray(group) ? listOf(group, acpLimits.models) : [choice];
  });
}

function readModels(raw: readonly unknown[]): readonly AcpModel[] {
  return raw.flatMap((each) => {
    const { modelId, value, name, _meta } = objectOf(each);
    const id = modelId ?? value;
    // A longer one could not be asked for.
    if (typeof id !== "string" || id === "" || id.length > limits.modelChars) return [];
    const { contextLimit, context_window: contextWindow } = objectOf(_meta);
    return [{ id, name: textOf(name, 200) ?? id, contextTokens: countOf(contextLimit ?? contextWindow) }];
  });
}
