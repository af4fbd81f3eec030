import { acpLimits } from "./acp-limits.ts";
import { countOf, listOf, objectOf, textOf } from "./raw-values.ts";

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
  readonly mode: string | null;
  readonly modes: readonly { readonly id: string; readonly name: string }[];
}

export const noOptions: SessionOptions = {
  models: [],
  model: null,
  modelOption: null,
  mode: null,
  modes: [],
};

/** Reads the answer to `session/new`, `session/load` or `session/resume`: configuration options, or the older `models` and `modes`. */
export function readSessionOptions(rawAnswer: unknown): SessionOptions {
  const answer = objectOf(rawAnswer);
  const byOption = readConfigOptions(answer.configOptions);
  const models = objectOf(answer.models);
  const modes = objectOf(answer.modes);
  return {
    ...(byOption ?? {
      models: readModels(models.availableModels),
      model: textOf(models.currentModelId, 500),
      modelOption: null,
    }),
    mode: textOf(modes.currentModeId, 200),
    modes: listOf(modes.availableModes, 100).flatMap((raw) => {
      const { id, name } = objectOf(raw);
      return typeof id === "string" ? [{ id, name: textOf(name, 200) ?? id }] : [];
    }),
  };
}

/** The model among configuration options; null where there is none to choose. */
export function readConfigOptions(
  rawOptions: unknown,
): Pick<SessionOptions, "models" | "model" | "modelOption"> | null {
  for (const raw of listOf(rawOptions, 100)) {
    const option = objectOf(raw);
    const id = textOf(option.id, 200);
    if (id === null || (option.category !== "model" && !(option.category == null && id === "model")))
      continue;
    const choices = listOf(option.options, acpLimits.models).flatMap((choice) => {
      const group = objectOf(choice).options;
      return Array.isArray(group) ? listOf(group, acpLimits.models) : [choice];
    });
    return { models: readModels(choices), model: textOf(option.currentValue, 500), modelOption: id };
  }
  return null;
}

function readModels(raw: unknown): readonly AcpModel[] {
  return listOf(raw, acpLimits.models).flatMap((each) => {
    const { modelId, value, id, name, _meta } = objectOf(each);
    const found = textOf(modelId ?? value ?? id, 500);
    if (found === null || found === "") return [];
    const { contextLimit, context_window: contextWindow } = objectOf(_meta);
    return [
      { id: found, name: textOf(name, 200) ?? found, contextTokens: countOf(contextLimit ?? contextWindow) },
    ];
  });
}
