import { signal } from "@preact/signals";

/** The request that the sheet was opened for; null while the sheet is closed. */
export const reviewed = signal<string | null>(null);

/** Opens the sheet with all that waits, at this request. */
export function review(requestId: string): void {
  reviewed.value = requestId;
}
