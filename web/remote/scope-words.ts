import type { Scope } from "../../src/protocol/scopes.ts";

/** What each scope means for the person who gives it. */
export const scopeWords: Readonly<Record<Scope, { readonly name: string; readonly meaning: string }>> = {
  view: { name: "Look", meaning: "reads conversations, jobs and their output" },
  drive: { name: "Prompt", meaning: "prompts and cancels agents, handles folders and jobs" },
  approve: { name: "Approve", meaning: "answers permission requests and questions" },
  admin: { name: "Manage", meaning: "pairs and revokes devices, opens tunnels, changes settings" },
};

/** All of them, in their usual order. */
export const allScopes = Object.keys(scopeWords) as readonly Scope[];

/** The names of some scopes, in their usual order. */
export function scopeNames(some: readonly Scope[]): string {
  return allScopes
    .filter((scope) => some.includes(scope))
    .map((scope) => scopeWords[scope].name)
    .join(", ");
}

/** With both, a device can make anything run without being asked. */
export function isAsGoodAsTheUser(some: readonly Scope[]): boolean {
  return some.includes("drive") && some.includes("approve");
}
