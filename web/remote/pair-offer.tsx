import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Button } from "../ui/button.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { SelectField } from "../ui/field.tsx";
import { kindWords } from "./access-words.ts";
import type { PairingCode } from "./pairing-code.ts";

interface PairOfferProps {
  readonly code: PairingCode;
  readonly onAgain: () => void;
}

/** The code as a picture to scan, a link to send and letters to type, for one address at a time, the farthest-reaching first. */
export function PairOffer({ code, onAgain }: PairOfferProps) {
  const at = useSignal("0");
  const leftMs = useSignal(Date.parse(code.expires) - Date.now());
  useEffect(() => {
    at.value = "0";
    const look = (): void => {
      leftMs.value = Date.parse(code.expires) - Date.now();
    };
    look();
    const timer = setInterval(look, 1_000);
    return () => clearInterval(timer);
  }, [code, at, leftMs]);
  const offer = code.offers[Number(at.value)] ?? code.offers[0];
  if (leftMs.value <= 0)
    return (
      <>
        <p role="alert">This code has ended. One code pairs one device, within ten minutes.</p>
        <Button kind="primary" icon="refresh" onClick={onAgain}>
          Make a new one
        </Button>
      </>
    );
  return (
    <div class="pair-offer">
      {code.offers.length > 1 && (
        <SelectField
          label="Where the device is"
          value={at.value}
          onValue={(value) => {
            at.value = value;
          }}
          options={code.offers.map(({ kind, address }, index) => ({
            value: String(index),
            label: `${kindWords[kind]}: ${address}`,
          }))}
        />
      )}
      {offer?.kind === "local" ? (
        <p class="problem-text">
          Only the daemon's machine reaches this address. For a phone, start a tunnel or open the network, and
          make a new code.
        </p>
      ) : (
        offer !== undefined && (
          <img
            src={`data:image/svg+xml,${encodeURIComponent(offer.qr)}`}
            alt={`QR code for ${offer.address}`}
          />
        )
      )}
      {offer !== undefined && <CopyButton isBare={false} label="Copy the link" text={offer.link} />}
      <p class="quiet-text">or open {offer?.address ?? "the page"} there and type</p>
      <p class="pair-code">{code.code}</p>
      <p class="quiet-text" role="timer">
        {remainingText(leftMs.value)}
      </p>
    </div>
  );
}

function remainingText(leftMs: number): string {
  const minutes = Math.ceil(leftMs / 60_000);
  return minutes > 1 ? `Good for ${minutes} minutes` : "Good for less than a minute";
}
