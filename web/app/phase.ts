import { signal } from "@preact/signals";
import type { Entry } from "../pairing/entry.ts";
import type { Session } from "../state/session.ts";

/** What the page as a whole shows. */
export type Phase =
  | { readonly kind: "starting" }
  /** A code or ticket is being traded; `code` as it is shown, null for a ticket. */
  | { readonly kind: "redeeming"; readonly code: string | null }
  | {
      readonly kind: "pairing";
      readonly code: string;
      readonly name: string;
      readonly problem: string | null;
    }
  | { readonly kind: "trouble"; readonly trouble: Trouble; readonly entry: Entry }
  | { readonly kind: "paired"; readonly session: Session };

/** Why the page cannot go on, with what a person can do. */
export type Trouble =
  | { readonly kind: "offline" }
  | { readonly kind: "remote_off" }
  | { readonly kind: "revoked" }
  | { readonly kind: "refused"; readonly message: string };

export const phase = signal<Phase>({ kind: "starting" });
