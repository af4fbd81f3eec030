import type { Rest } from "../client/rest.ts";
import type { Remote } from "../protocol/objects.ts";
import type { Scope } from "../protocol/scopes.ts";
import type { Io } from "./io.ts";
import type { Printer } from "./printer.ts";
import { drawQr, hasColours } from "./qr.ts";
import { inline, shortTime } from "./text.ts";

export interface Offer {
  readonly kind: "tunnel" | "lan" | "local";
  readonly address: string;
  readonly link: string;
  readonly qr: string;
}
/** The answer of `POST /api/pair/codes`. */
export interface PairingCode {
  readonly code: string;
  readonly expires: string;
  readonly scopes: readonly Scope[];
  readonly offers: readonly Offer[];
}

/** What every screen says that invites devices over a network without TLS. */
export const networkWarning = "Without TLS, whoever can read this network can become this device.";

/** True when the network in between can read what a device sends: it is let in, and no address on it speaks TLS. */
export function networkCanRead(remote: Pick<Remote, "access" | "addresses">): boolean {
  return (
    remote.access === "on" &&
    !remote.addresses.some(({ kind, address }) => kind === "lan" && address.startsWith("https://"))
  );
}

/** The best address that another machine can reach; null while there is none. */
function reachableOffer(code: PairingCode): Offer | null {
  return (
    code.offers.find(({ kind }) => kind === "tunnel") ??
    code.offers.find(({ kind }) => kind === "lan") ??
    null
  );
}

/** Makes a code. */
export function mintCode(
  target: { readonly rest: Rest },
  options: { scopes?: readonly Scope[]; expires_days?: number } = {},
): Promise<PairingCode> {
  return target.rest.body<PairingCode>("POST", "/api/pair/codes", options);
}

/** While no other machine can reach the daemon. */
const nextStep: Readonly<Record<Remote["access"], string>> = {
  off: "Let this network in: sallyport remote on",
  tunnel: "No tunnel or door of it is up. See: sallyport remote status",
  on: "Remote access is on, but this machine has no network address: connect it to a network, then make a new code.",
};

/** Shows a code with its links; draws a QR only of an address that another machine can reach. */
export async function showCode(io: Io, out: Printer, code: PairingCode, remote: Remote): Promise<void> {
  const best = reachableOffer(code);
  await out.line(`Pairing code: ${inline(code.code)}   (one device, until ${shortTime(code.expires)} UTC)`);
  for (const offer of code.offers) await out.line(`  ${inline(offer.link)}`);
  if (best === null) {
    await out.line(`Only this machine can reach it now. ${nextStep[remote.access]}`);
    return;
  }
  if (io.stdout.isTerminal) {
    const drawn = await drawQr(best.link, io.stdout, { colours: hasColours(io.stdout, io.env) });
    await out.line(drawn === null ? "(This terminal is too narrow for the QR code: use a link.)" : drawn);
  }
  await out.line(`Scan it, or open the link on the device, or type the code at ${inline(best.address)}`);
  if (networkCanRead(remote)) await out.line(networkWarning);
}
