import type { Static, TSchema } from "typebox";
import { Compile, type Validator } from "typebox/compile";
import { Check } from "typebox/schema";

/** Tells whether values fit a schema. */
export interface Checker<T extends TSchema> {
  check(value: unknown): value is Static<T>;
  /** JSON Pointer of the first thing that is wrong in a value that does not fit; empty for the value itself. */
  firstWrong(value: unknown): string;
  /** The compiled form, for who wants to know more of what is wrong. */
  compiled(): Validator;
}

/**
 * Makes a checker that costs nothing until it is used. The first `walks` values are checked by walking the schema, later ones
 * by code made for it: to make the first code of a process takes it ten milliseconds, which a daemon that reads a
 * handful of small files does not have.
 *
 * @param options `walks`: default 16; 0 for values that are large
 */
export function createChecker<T extends TSchema>(
  schema: T,
  { walks = 16 }: { readonly walks?: number } = {},
): Checker<T> {
  let validator: Validator | null = null;
  let left = walks;
  const compiled = (): Validator => {
    validator ??= Compile(schema);
    return validator;
  };
  return {
    check(value): value is Static<T> {
      left -= 1;
      return left >= 0 && validator === null ? Check(schema, value) : compiled().Check(value);
    },
    firstWrong: (value) => compiled().Errors(value)[0]?.instancePath ?? "",
    compiled,
  };
}
