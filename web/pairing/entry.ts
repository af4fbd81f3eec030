/** What the address of the page brought along. Each is a secret and is taken out of the address bar at once. */
export type Entry =
  | { readonly kind: "none" }
  | { readonly kind: "code"; readonly rawCode: string }
  | { readonly kind: "ticket"; readonly ticket: string }
  | { readonly kind: "token"; readonly token: string };

export interface ReadEntry {
  readonly entry: Entry;
  /** The address without the secret; equal to the given one if there was none. */
  readonly cleanHref: string;
}

/** Reads `#pair=CODE`, `#ticket=…` and `?token=…` from the address of the page. */
export function readEntry(href: string): ReadEntry {
  const url = new URL(href);
  const fragment = new URLSearchParams(url.hash.slice(1));
  const code = fragment.get("pair");
  const ticket = fragment.get("ticket");
  const token = url.searchParams.get("token");
  if (code === null && ticket === null && token === null) return { entry: { kind: "none" }, cleanHref: href };
  url.searchParams.delete("token");
  url.hash = "";
  const entry: Entry =
    ticket !== null
      ? { kind: "ticket", ticket }
      : code !== null
        ? { kind: "code", rawCode: code }
        : { kind: "token", token: token ?? "" };
  return { entry, cleanHref: url.href };
}
