import { SallyportError } from "../errors.ts";
import type { Provider } from "./provider.ts";
import { cloudflared } from "./providers/cloudflared.ts";
import { command } from "./providers/command.ts";
import { ngrok } from "./providers/ngrok.ts";
import { ssh } from "./providers/ssh.ts";
import { tailscale } from "./providers/tailscale.ts";

/** Every provider there is. Nothing is found by scanning, and no name leads to a module by itself. */
export const providers: readonly Provider[] = [cloudflared, tailscale, ngrok, ssh, command];

/** Throws `invalid_field` with the names that exist. */
export function providerNamed(name: string): Provider {
  const found = providers.find((provider) => provider.name === name);
  if (found) return found;
  throw new SallyportError(
    "invalid_field",
    `provider must be one of ${providers.map((provider) => provider.name).join(", ")}.`,
    { field: "provider" },
  );
}
