import { type Static, Type } from "typebox";

/** What a principal may do: `view` reads, `drive` prompts and handles jobs, `approve` answers, `admin` handles the gate. */
export const scopes = ["view", "drive", "approve", "admin"] as const;
export const ScopeSchema = Type.Union([
  Type.Literal("view"),
  Type.Literal("drive"),
  Type.Literal("approve"),
  Type.Literal("admin"),
]);
export type Scope = Static<typeof ScopeSchema>;
