const allowedProtocols: ReadonlySet<string> = new Set(["http:", "https:", "mailto:"]);
const maxHrefChars = 4_096;

/**
 * The address of a link in a transcript, if it leads to the web or to a mail: absolute, and http, https or mailto. Null for
 * all else: `javascript:`, `data:`, paths of files.
 */
export function safeHref(raw: string): string | null {
  if (raw.length > maxHrefChars || !URL.canParse(raw)) return null;
  const url = new URL(raw);
  // A user name before the host makes one address look like another.
  if (!allowedProtocols.has(url.protocol) || url.username !== "" || url.password !== "") return null;
  return url.href;
}

/**
 * What has to be shown behind a link because its text names another place than it leads to; null where they agree, or the
 * text names none.
 */
export function hiddenTarget(text: string, href: string): string | null {
  const url = new URL(href);
  const target = url.protocol === "mailto:" ? url.pathname : url.host;
  const names = /(?:^|[\s("'<@/])((?:[\p{L}\p{N}-]{1,63}\.){1,10}\p{L}{2,24})(?=$|[\s)"'>:/?#,.])/gu;
  for (const [, name = ""] of text.slice(0, 2_000).matchAll(names)) {
    const said = name.toLowerCase();
    if (!target.toLowerCase().endsWith(said)) return target;
  }
  return null;
}
