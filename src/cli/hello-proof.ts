import { timingSafeEqual } from "node:crypto";
import { helloProof } from "../auth/master-token.ts";

/** True when `rawProof` is the proof under `masterToken`. Takes the same time for every wrong one of the right length. */
export function proofHolds(rawProof: unknown, masterToken: string, port: number, challenge: string): boolean {
  if (typeof rawProof !== "string") return false;
  const expected = Buffer.from(helloProof(masterToken, port, challenge));
  const given = Buffer.from(rawProof);
  return given.byteLength === expected.byteLength && timingSafeEqual(given, expected);
}
