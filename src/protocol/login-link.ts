import type { Remote, Tunnel } from "./objects.ts";

/** The bare address of a host tells nothing; what stands behind it may. */
const linkPattern = /\b[a-z][a-z0-9+.-]*:\/\/[^\s/?#]+[/?#]\S+/gi;
const waitingText = "The tunnel waits for something that a device with admin can see.";

/**
 * Remote access as those see it who have no `admin`: whoever has the link by which a tunnel's tool logs in could log it in
 * as somebody else. The tool's own words may hold the link, or a code for it, as well. The same object where nothing is
 * hidden.
 */
export function withoutLoginLink(remote: Remote): Remote {
  const { tunnel } = remote;
  const shown: Tunnel = {
    ...tunnel,
    link: null,
    text: tunnel.state === "waiting" && tunnel.text !== null ? waitingText : withoutLinks(tunnel.text),
    reason: withoutLinks(tunnel.reason),
  };
  const isSame = tunnel.link === null && tunnel.text === shown.text && tunnel.reason === shown.reason;
  return isSame ? remote : { ...remote, tunnel: shown };
}

function withoutLinks(text: string | null): string | null {
  return text === null ? null : text.replace(linkPattern, "[link]");
}
