/** Where a daemon is: every `/api` path lies below `base`, which has no trailing slash and may have a path. */
export interface BaseAddress {
  readonly base: string;
  /** The address can only be this very machine. */
  readonly isLoopback: boolean;
  /** `https`: nobody in between can read what is sent. */
  readonly isEncrypted: boolean;
}

export type ReadBase = ({ readonly ok: true } & BaseAddress) | { readonly ok: false; readonly hint: string };

const maxAddressChars = 2_048;

/**
 * Reads an address as people type it, or a pairing link. The host is judged after parsing it as a URL (WHATWG), never by
 * how its text begins: `127.evil.example` is no loopback address. Query and fragment are no part of a base and fall away.
 */
export function readBase(raw: string): ReadBase {
  const text = raw.trim();
  if (text === "" || text.length > maxAddressChars) return no("Give the daemon's address.");
  if (!/^https?:\/\//i.test(text)) return no("The address begins with http:// or https://.");
  if (!URL.canParse(text)) return no("This is no address.");
  const url = new URL(text);
  if (url.username !== "" || url.password !== "")
    return no("The address must hold no user name and no password.");
  return {
    ok: true,
    base: url.origin + url.pathname.replace(/\/+$/, ""),
    isLoopback: isLoopbackHost(url.hostname),
    isEncrypted: url.protocol === "https:",
  };
}

/** @param hostname as `URL` normalises it: lower case, IPv4 as a dotted quad, IPv6 in brackets */
function isLoopbackHost(hostname: string): boolean {
  return (
    hostname === "localhost" ||
    hostname === "localhost." ||
    hostname === "[::1]" ||
    /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname)
  );
}

function no(why: string): ReadBase {
  return { ok: false, hint: `${why} As in: https://box.example` };
}

/** The code of a pairing link `<base>/#pair=<code>`; null where the address carries none. */
export function codeOfLink(raw: string): string | null {
  if (!URL.canParse(raw.trim())) return null;
  const code = new URLSearchParams(new URL(raw.trim()).hash.slice(1)).get("pair");
  return code === null || code === "" ? null : code;
}
