import type { ConfigProblem } from "./config-error.ts";
import type { RawConfig } from "./schema.ts";

/** Names that exist on no other machine (RFC 2606, RFC 6762): a push service that looks refuses them, and each message. */
const nowhere = /(^|\.)(localhost|local|invalid|internal)$/;

/** `push.contact` goes into a signed header: what would make each message fail is refused here. */
export function checkPush(raw: RawConfig): ConfigProblem | null {
  const contact = raw.push?.contact;
  if (contact === undefined) return null;
  const key = "push.contact";
  const host = /^mailto:[^@\s<>]+@([^@\s<>]+)$/i.exec(contact)?.[1] ?? httpsHost(contact);
  if (host === null)
    return { key, message: 'must be "mailto:you@box.example" without spaces, or an https address.' };
  if (nowhere.test(host.toLowerCase()))
    return { key, message: "must name a host of the internet: push services refuse others." };
  return null;
}

function httpsHost(contact: string): string | null {
  if (!contact.startsWith("https://") || !URL.canParse(contact)) return null;
  return new URL(contact).hostname;
}
