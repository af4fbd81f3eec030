import { describe, expect, it } from "vitest";
import {
  readConfigOptions,
  readSessionOptions,
} from "../../../../src/engine/runtimes/acp/session-options.ts";

describe("the options of a session", () => {
  const listed = [{ modelId: "pro", name: "Pro" }];

  it("have the model that the agent was started with, also where its own list does not", () => {
    const { models, model } = readSessionOptions({
      models: { currentModelId: "flash", availableModels: listed },
    });
    expect(model).toBe("flash");
    expect(models.map(({ id }) => id)).toEqual(["pro", "flash"]);
    const option = { id: "model", category: "model", currentValue: "mine", options: [{ value: "pro" }] };
    expect(readConfigOptions([option]).models?.map(({ id }) => id)).toEqual(["pro", "mine"]);
  });

  it("add nothing where the model is listed, or where there is nothing to choose", () => {
    const known = readSessionOptions({ models: { currentModelId: "pro", availableModels: listed } });
    expect(known.models).toHaveLength(1);
    expect(readSessionOptions({ models: { currentModelId: "flash" } }).models).toEqual([]);
    expect(readConfigOptions([])).toEqual({});
  });
});
