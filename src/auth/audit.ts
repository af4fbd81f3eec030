import type { Access, By, DeviceKind } from "../protocol/objects.ts";
import type { Scope } from "../protocol/scopes.ts";

/** What is worth knowing afterwards about who could get in. No event has a field that could hold a secret. */
export type AuditEvent =
  | {
      readonly type: "code_made";
      readonly by: By;
      readonly scopes: readonly Scope[];
      readonly expires_days: number | null;
    }
  | {
      readonly type: "device_paired";
      readonly device: string;
      readonly name: string;
      readonly kind: DeviceKind;
      readonly scopes: readonly Scope[];
      readonly local_only: boolean;
      /** Who made the code or ticket. */
      readonly by: By;
    }
  /** Wrong codes since the line before: a flood is one line a minute. */
  | { readonly type: "pairing_missed"; readonly count: number }
  | { readonly type: "device_revoked"; readonly device: string; readonly name: string; readonly by: By }
  | { readonly type: "device_expired"; readonly device: string; readonly name: string }
  | {
      readonly type: "device_renamed";
      readonly device: string;
      readonly from: string;
      readonly to: string;
      readonly by: By;
    }
  | {
      readonly type: "device_rescoped";
      readonly device: string;
      readonly from: readonly Scope[];
      readonly to: readonly Scope[];
      readonly by: By;
    }
  | { readonly type: "exposure_changed"; readonly from: Access; readonly to: Access; readonly by: By | null }
  | { readonly type: "token_rotated" }
  /** Which settings, not to what: a value can be a secret. */
  | { readonly type: "settings_changed"; readonly keys: readonly string[]; readonly by: By }
  | {
      readonly type: "door_opened";
      readonly door: string;
      readonly listen: string;
      readonly url: string | null;
    }
  | { readonly type: "door_closed"; readonly door: string }
  | { readonly type: "tunnel_started"; readonly provider: string; readonly by: By }
  | { readonly type: "tunnel_stopped"; readonly provider: string; readonly by: By | null };

/** Takes an event; never throws and never waits. */
export type AuditSink = (event: AuditEvent) => void;

/** One line of `audit.jsonl`, newline included: JSON escapes control characters, so that one event is one line. */
export function auditLine(event: AuditEvent, at: string): string {
  return `${JSON.stringify({ at, ...event })}\n`;
}
