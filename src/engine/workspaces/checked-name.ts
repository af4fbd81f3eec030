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
