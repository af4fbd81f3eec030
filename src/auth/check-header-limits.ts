import type { Refusal } from "../errors.ts";
import { limits } from "../protocol/limits.ts";
import type { HeaderFacts } from "./read-headers.ts";

const tooMany: Refusal = {
  code: "too_many_headers",
  message: `The request has too many headers: at most ${limits.headerLines} lines and ${limits.headerBlockBytes} bytes.`,
};

/** At most 100 header lines in 16 KiB, counted on the raw lines (431, RFC 6585 §5). */
export function checkHeaderLimits(facts: HeaderFacts): Refusal | null {
  return facts.lines > limits.headerLines || facts.blockBytes > limits.headerBlockBytes ? tooMany : null;
}
