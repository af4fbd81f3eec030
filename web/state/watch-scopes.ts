import type { Rest } from "../../src/client/rest.ts";
import type { Device } from "../../src/protocol/objects.ts";
import type { Scope } from "../../src/protocol/scopes.ts";

/**
 * Whether this device may do something else than is believed: its scopes were changed from elsewhere, which no change of the
 * stream tells. False for the master token, and where the daemon cannot be asked.
 */
export async function hasOtherScopes(rest: Rest, believed: ReadonlySet<Scope>): Promise<boolean> {
  try {
    const { devices } = await rest.body<{ readonly devices: readonly Device[] }>("GET", "/api/devices");
    const own = devices.find(({ current }) => current);
    if (own === undefined) return false;
    return own.scopes.length !== believed.size || own.scopes.some((scope) => !believed.has(scope));
  } catch {
    return false; // The next look, or the first refusal, finds out.
  }
}
