import { tunnelProviders } from "../config/schema.ts";
import { usageError } from "./cli-error.ts";

const names: readonly string[] = [...tunnelProviders, "command"];

/** The name of a provider as it was typed. One that does not exist is wrong usage, before anything is started or asked. */
export function checkedProvider(what: string, name: string): string {
  if (names.includes(name)) return name;
  throw usageError(`${what} must be one of ${names.join(", ")}.`);
}
