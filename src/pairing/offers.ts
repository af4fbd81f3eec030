import type { AddressKind } from "../protocol/objects.ts";
import type { ReachableAddress } from "./reachable-addresses.ts";

/** One way to reach this daemon with a code: the link that a phone opens, and the same link as a QR code. */
export interface Offer {
  readonly kind: AddressKind;
  readonly address: string;
  readonly link: string;
  /** An SVG element; its squares say the link and nothing else. */
  readonly qr: string;
}

/** The pairing link of an address. The code is in the fragment, which no server and no log sees. */
function pairingLink(address: string, code: string): string {
  return `${address}/#pair=${code}`;
}

/** An offer per address, in their order. */
export async function createOffers(
  addresses: readonly ReachableAddress[],
  code: string,
): Promise<readonly Offer[]> {
  const { default: qrcode } = await import("qrcode");
  return Promise.all(
    addresses.map(async ({ kind, address }) => {
      const link = pairingLink(address, code);
      const svg = await qrcode.toString(link, { type: "svg", errorCorrectionLevel: "M", margin: 2 });
      return { kind, address, link, qr: svg.trim() };
    }),
  );
}
