import { checkFraming } from "../../auth/check-framing.ts";
import { checkHeaderLimits } from "../../auth/check-header-limits.ts";
import { parseTarget, stripBase } from "../../auth/parse-target.ts";
import type { Refusal } from "../../errors.ts";
import { limits } from "../../protocol/limits.ts";
import type { GatePass } from "../gate-pass.ts";

const badTarget: Refusal = {
  code: "bad_request",
  message: "The request target is malformed. Send a path that starts with one slash and decodes cleanly.",
};

/** Bounds and shape, before a single value is looked at. */
export function checkLimits(pass: GatePass): Refusal | null {
  const { kind, method, httpVersion, headers, rawTarget, door } = pass.arrival;
  const refusal = checkHeaderLimits(headers) ?? checkFraming(kind, method, httpVersion, headers, door.kind);
  if (refusal) return refusal;
  const target = parseTarget(rawTarget, limits.targetBytes);
  if (!target) return badTarget;
  pass.target = stripBase(target, door.publicAddress?.basePath ?? "");
  return null;
}
