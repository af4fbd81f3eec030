import type { DeviceKind, PairedDevice } from "../src/protocol/objects.ts";
import type { Answer, Api } from "./api.ts";

export interface Paired {
  readonly token: string;
  readonly device: PairedDevice;
  readonly version: string;
}

/** What is traded for a device token: a code that a person was given, or the ticket of `sallyport web`. */
export type PairWith = { readonly code: string } | { readonly ticket: string };

const retryDelaysMs = [500, 1_500, 3_000, 6_000, 12_000];

/**
 * Pairs this browser. A reply that was lost is asked for again with the same nonce: the daemon gives the winner of a code
 * the same answer for a minute, so that a dropped connection does not burn the code.
 */
export async function pair(
  api: Api,
  proof: PairWith,
  device: { readonly name: string; readonly kind: DeviceKind; readonly nonce: string },
  wait: (ms: number) => Promise<void>,
): Promise<Answer<Paired>> {
  const body = { ...proof, ...device };
  let answer = await api.call<Paired>("POST", "api/pair", { body });
  for (const delayMs of retryDelaysMs) {
    if (answer.kind !== "offline" && !(answer.kind === "refused" && answer.status === 503)) break;
    await wait(delayMs);
    answer = await api.call<Paired>("POST", "api/pair", { body });
  }
  return answer;
}

/** Trades the master token of a local address for a page ticket; the token itself is never kept. */
export async function ticketForToken(api: Api, token: string): Promise<Answer<{ readonly ticket: string }>> {
  return api.call("POST", "api/ws/ticket", { body: { purpose: "page" }, token });
}

/** Random hex digits. `randomUUID` is missing on plain http addresses. */
export function randomHex(bytes: number): string {
  return [...crypto.getRandomValues(new Uint8Array(bytes))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}

/** What this browser calls itself until somebody renames it. */
export function describeBrowser(userAgent: string): { readonly name: string; readonly kind: DeviceKind } {
  const browser = /Edg\//.test(userAgent)
    ? "Edge"
    : /Firefox|FxiOS/.test(userAgent)
      ? "Firefox"
      : /Chrome|CriOS/.test(userAgent)
        ? "Chrome"
        : /Safari/.test(userAgent)
          ? "Safari"
          : "Browser";
  const [system, kind]: [string, DeviceKind] = /iPhone/.test(userAgent)
    ? ["iPhone", "phone"]
    : /iPad/.test(userAgent)
      ? ["iPad", "tablet"]
      : /Android/.test(userAgent)
        ? ["Android", /Mobile/.test(userAgent) ? "phone" : "tablet"]
        : [
            /Mac OS/.test(userAgent)
              ? "Mac"
              : /Windows/.test(userAgent)
                ? "Windows"
                : /Linux/.test(userAgent)
                  ? "Linux"
                  : "",
            "browser",
          ];
  return { name: system === "" ? browser : `${browser} on ${system}`, kind };
}
