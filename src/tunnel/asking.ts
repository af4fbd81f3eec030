import type { Finding } from "./provider.ts";
import { isBelow, urlsIn } from "./public-url.ts";

const askingWords =
  /\b(log ?in|sign ?in|authenticate|authori[sz]e|activate|to enable|visit|open (this|the)|go to)\b/i;
/** Lines between what a tool asks for and the link. */
const maxApart = 3;

/**
 * Reads lines of a tool of which nothing is known: one that asks for a person, with a link to https in it or close behind,
 * is what it waits for.
 *
 * @param hosts whose links count; null: anybody's
 */
export function createAskingReader(hosts: readonly string[] | null): (line: string) => Finding | null {
  let asking: string | null = null;
  let apart = 0;
  return (line) => {
    // A link by itself asks for nothing, whatever words are in it.
    if (askingWords.test(line.replace(/https?:\S+/gi, ""))) {
      asking = line.trim();
      apart = 0;
    } else if (asking !== null && line.trim() !== "") apart += 1;
    if (asking === null || apart > maxApart) return null;
    for (const raw of urlsIn(line)) {
      const url = URL.canParse(raw) ? new URL(raw) : null;
      const isTheirs =
        hosts === null || (url !== null && (hosts.includes(url.hostname) || isBelow(url.hostname, hosts)));
      if (isTheirs && url?.protocol === "https:" && url.username === "" && url.password === "")
        return { kind: "waiting", text: asking, link: url.href };
    }
    return null;
  };
}
