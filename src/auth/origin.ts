import { parseWebOrigin, sameOrigin, type WebOrigin } from "./public-address.ts";
import type { HeaderFacts } from "./read-headers.ts";

const webview = /^vscode-webview:\/\/[a-z0-9._-]{1,256}$/i;

/**
 * Whether the page that made a browser send this may do so. Without an Origin it is no page's script, unless the browser
 * says that another site is behind it; then only a navigation to the page itself is let through.
 *
 * @param own the origin under which the page is seen: our scheme and Host, or a door's public address
 * @param configured further origins, compared as they are written
 * @param targetIsPage the request asks for a static file by GET or HEAD
 */
export function originAllowed(
  facts: HeaderFacts,
  own: WebOrigin | null,
  configured: ReadonlySet<string>,
  targetIsPage: () => boolean,
): boolean {
  if (facts.originLines === 0) return !facts.crossSite || (isNavigation(facts) && targetIsPage());
  if (facts.originLines > 1) return false;
  const raw = facts.rawOrigin;
  // An opaque origin is anybody's: a sandboxed frame, a file, a redirect. No setting can let it in.
  if (raw === "null" || raw === "") return false;
  if (configured.has(raw) || webview.test(raw)) return true;
  if (own === null) return false;
  const origin = parseWebOrigin(raw);
  return origin !== null && sameOrigin(origin, own);
}

/** A person followed a link: a whole new page, in no frame (W3C Fetch Metadata). */
function isNavigation(facts: HeaderFacts): boolean {
  return (
    facts.rawFetchMode === "navigate" && (facts.rawFetchDest === "document" || facts.rawFetchDest === "")
  );
}
