import type { TSchema } from "typebox";
import { Compile, type Validator } from "typebox/compile";
import { SallyportError } from "../errors.ts";
import { isJsonObject } from "./body-json.ts";

/** More elements than any schema allows: an array cut to this still shows what is wrong with it. */
const shownElements = 256;

export interface InputValidator {
  /** Throws `invalid_field` with the dotted path of the first field that is wrong. */
  assert(value: unknown): void;
}

/** Compiles a schema when it is first used: start-up does not pay for what nobody calls. */
export function createValidator(schema: TSchema): InputValidator {
  let compiled: Validator | null = null;
  return {
    assert(value) {
      compiled ??= Compile(schema);
      if (compiled.Check(value)) return;
      const { field, problem } = firstWrong(compiled, value);
      if (field === "") throw new SallyportError("invalid_field", "This must be a JSON object.");
      throw new SallyportError("invalid_field", `The field "${field}" ${problem}.`, { field });
    },
  };
}

/** The dotted path of the first wrong field, and what the schema says of it: nothing of the value is repeated. */
function firstWrong(validator: Validator, value: unknown): { field: string; problem: string } {
  const errors = validator.Errors(withShortArrays(value));
  const [first] = errors;
  if (!first) return { field: "", problem: "" };
  const path = first.instancePath
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  // A missing field is reported at the object that lacks it.
  if (first.keyword === "required") {
    const [missing] = first.params.requiredProperties;
    if (missing !== undefined) path.push(missing);
    return { field: path.join("."), problem: "is missing" };
  }
  // A choice is a union of constants, each of which says only that it is not the one.
  const choices = errors.flatMap((error) =>
    error.keyword === "const" && error.instancePath === first.instancePath
      ? [JSON.stringify(error.params.allowedValue)]
      : [],
  );
  const problem = choices.length > 0 ? `must be ${choices.join(" or ")}` : first.message;
  return { field: path.join("."), problem };
}

/** Looking for the error visits every element; a million wrong ones would take seconds. */
function withShortArrays(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, shownElements);
  if (!isJsonObject(value)) return value;
  const short: Record<string, unknown> = {};
  let count = 0;
  for (const key in value) {
    const item = value[key];
    short[key] = Array.isArray(item) ? item.slice(0, shownElements) : item;
    count += 1;
    if (count === shownElements) break;
  }
  return short;
}
