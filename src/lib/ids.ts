import { randomBytes } from "node:crypto";
import { v7 } from "uuid";

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const jobIdPattern = /^[0-9a-f]{8}$/;

/** A new UUIDv7 (RFC 9562), lower case: the id of workspaces, tabs, agents, turns, requests and devices. */
export function newId(): string {
  return v7();
}

/** A new job id: 8 hex digits. The caller checks that it is not taken. */
export function newJobId(): string {
  return randomBytes(4).toString("hex");
}

/** True for a lower-case UUIDv7, the only form an id has in file names; nothing else ever reaches a path. */
export function isId(raw: string): boolean {
  return uuidPattern.test(raw);
}

/** True for 8 lower-case hex digits. */
export function isJobId(raw: string): boolean {
  return jobIdPattern.test(raw);
}

/** `bytes` of randomness as base64url without padding. */
export function randomSecret(bytes: number): string {
  return randomBytes(bytes).toString("base64url");
}
