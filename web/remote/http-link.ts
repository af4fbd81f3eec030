/** `raw` as an address of the web, or null: what a tool printed is not trusted to be one. */
export function httpLink(raw: string): string | null {
  try {
    const url = new URL(raw);
    return url.protocol === "https:" || url.protocol === "http:" ? url.href : null;
  } catch {
    return null; // No address at all.
  }
}
