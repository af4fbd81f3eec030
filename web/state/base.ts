/** Base address of the daemon: the folder of the page, with a trailing slash. Every request goes below it. */
export function baseOf(href: string): string {
  const url = new URL(".", href);
  url.search = "";
  url.hash = "";
  return url.href;
}

/** True where what is sent could be read on the way: plain http to another machine. */
export function isUnencrypted(href: string): boolean {
  const { protocol, hostname } = new URL(href);
  return protocol === "http:" && !/^(?:localhost\.?|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}
