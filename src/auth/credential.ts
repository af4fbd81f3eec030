import type { Refusal } from "../errors.ts";
import { limits } from "../protocol/limits.ts";
import type { HeaderFacts } from "./read-headers.ts";

/** What a request presents. `unreadable`: there is something, but it is no token of ours and goes no further. */
export type PresentedCredential =
  | { readonly kind: "none" }
  | { readonly kind: "unreadable" }
  | { readonly kind: "token"; readonly rawToken: string }
  | { readonly kind: "ticket"; readonly rawTicket: string }
  | { readonly kind: "refused"; readonly refusal: Refusal };

export interface ExtractedCredential {
  readonly credential: PresentedCredential;
  /** The query without `token` and `ticket`: all that anything behind the gate, a log included, gets to see. */
  readonly rawQuery: string;
}

const none: PresentedCredential = { kind: "none" };
const unreadable: PresentedCredential = { kind: "unreadable" };
const several: PresentedCredential = {
  kind: "refused",
  refusal: {
    code: "bad_request",
    message: "Send one credential, once: an Authorization header, or `token`, or `ticket` in the query.",
  },
};

/** Finds the one credential of a request: `Authorization: Bearer`, or `token=` or `ticket=` in the query. Judges nothing. */
export function extractCredential(facts: HeaderFacts, rawQuery: string): ExtractedCredential {
  if (!mayNameCredential(rawQuery))
    return { credential: facts.authorizationLines > 1 ? several : fromHeader(facts), rawQuery };
  let count = facts.authorizationLines;
  let credential = fromHeader(facts);
  const kept: string[] = [];
  for (const pair of rawQuery.split("&")) {
    const equalsAt = pair.indexOf("=");
    const name = formDecode(equalsAt === -1 ? pair : pair.slice(0, equalsAt));
    if (name !== "token" && name !== "ticket") {
      kept.push(pair);
      continue;
    }
    count += 1;
    const value = equalsAt === -1 ? "" : pair.slice(equalsAt + 1);
    credential = readable(value) ? fromQuery(name, formDecode(value)) : unreadable;
  }
  return { credential: count > 1 ? several : credential, rawQuery: kept.join("&") };
}

function fromHeader(facts: HeaderFacts): PresentedCredential {
  if (facts.authorizationLines === 0) return none;
  const raw = facts.rawAuthorization;
  if (!readable(raw) || !startsWithBearer(raw)) return unreadable;
  const rawToken = raw.slice("bearer ".length).trim();
  return isOneWord(rawToken) ? { kind: "token", rawToken } : unreadable;
}

function startsWithBearer(raw: string): boolean {
  return raw.startsWith("Bearer ") || raw.slice(0, "bearer ".length).toLowerCase() === "bearer ";
}

function fromQuery(name: "token" | "ticket", raw: string): PresentedCredential {
  if (!isOneWord(raw)) return unreadable;
  return name === "token" ? { kind: "token", rawToken: raw } : { kind: "ticket", rawTicket: raw };
}

/** A token has at most 1 KiB; what is longer is refused unread. The scheme's name comes on top. */
function readable(raw: string): boolean {
  return raw !== "" && raw.length <= limits.tokenBytes + "bearer ".length;
}

function mayNameCredential(rawQuery: string): boolean {
  if (rawQuery === "") return false;
  // An escaped letter may hide in the name.
  return rawQuery.includes("token") || rawQuery.includes("ticket") || rawQuery.includes("%");
}

/** As every form decoder reads it (WHATWG URL §5.1). The escapes were checked with the target. */
function formDecode(raw: string): string {
  return raw.includes("%") || raw.includes("+") ? decodeURIComponent(raw.replaceAll("+", " ")) : raw;
}

/** What its letters are is for the verifier to judge. */
function isOneWord(raw: string): boolean {
  return raw !== "" && raw.length <= limits.tokenBytes && !raw.includes(" ") && !raw.includes("\t");
}
