import { SallyportError } from "../../errors.ts";
import { limits } from "../../protocol/limits.ts";
import { cleanLabel } from "../visible-text.ts";

/** A name fit for lists. Throws `invalid_field` when nothing of it can be shown. */
export function checkedName(raw: string): string {
  const name = cleanLabel(raw, limits.labelChars);
  if (name === "")
    throw new SallyportError("invalid_field", "The name has nothing to show.", { field: "name" });
  return name;
}

export function noWorkspace(): SallyportError {
  return new SallyportError("not_found", "There is no such workspace; it may have been deleted.", {
    field: "workspace",
  });
}

export function noTab(): SallyportError {
  return new SallyportError("not_found", "There is no such tab; it may have been closed.", { field: "tab" });
}
