import type { Tunnel } from "../protocol/objects.ts";
import { inline } from "./text.ts";

/** How a tunnel is, in lines for people. */
export function tunnelLines(tunnel: Tunnel): readonly string[] {
  const name = `Tunnel ${inline(tunnel.provider ?? "")}`;
  switch (tunnel.state) {
    case "off":
      return ["There is no tunnel. Start one: sallyport tunnel start cloudflared"];
    case "up":
      return [`${name} is up: ${inline(tunnel.url ?? "")}`];
    case "waiting":
      return [
        `${name} waits: ${inline(tunnel.text ?? "")}`,
        ...(tunnel.link === null ? [] : [`  ${inline(tunnel.link)}`]),
      ];
    case "starting":
      return [`${name} is starting${tunnel.text === null ? "" : `: ${inline(tunnel.text)}`}`];
    case "failed":
      return [
        `${name} failed: ${inline(tunnel.reason ?? "")}`,
        tunnel.next_try === null
          ? "It is not tried again by itself."
          : `Next try at ${inline(tunnel.next_try)}`,
      ];
  }
}
