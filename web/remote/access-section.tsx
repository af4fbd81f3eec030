import { useSignal } from "@preact/signals";
import type { Access, Remote } from "../../src/protocol/objects.ts";
import { errorText } from "../state/error-text.ts";
import { useSession } from "../state/session.ts";
import { toast } from "../state/toasts.ts";
import { ConfirmDialog } from "../ui/confirm-dialog.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { Icon } from "../ui/icon.tsx";
import { List, Row } from "../ui/list.tsx";
import { Segments } from "../ui/tab-list.tsx";
import { accessWords, cutsOff, isReadableByTheNetwork, kindWords } from "./access-words.ts";

/** Whether others than this machine reach the daemon, and under which addresses. */
export function AccessSection({ remote }: { readonly remote: Remote }) {
  const session = useSession();
  /** What a question asks about, and what is on its way. */
  const wanted = useSignal<Access | null>(null);
  const coming = useSignal<Access | null>(null);
  const isAdmin = session.may("admin");

  async function change(access: Access): Promise<void> {
    wanted.value = null;
    coming.value = access;
    try {
      await session.rest.request("POST", "/api/remote", { access });
    } catch (error) {
      toast(errorText(error), { kind: "problem" });
    }
    coming.value = null;
  }
  function ask(access: Access): void {
    if (cutsOff(session.base, access, remote)) wanted.value = access;
    else void change(access);
  }

  return (
    <section class="remote-section" aria-labelledby="access-title">
      <header>
        <h2 id="access-title">Access</h2>
        {isAdmin && (
          <Segments
            label="Access"
            value={wanted.value ?? coming.value ?? remote.access}
            onValue={(value) => ask(value as Access)}
            segments={(["off", "tunnel", "on"] as const).map((value) => ({
              value,
              label: accessWords[value].title,
            }))}
          />
        )}
      </header>
      <p class="quiet-text">
        {!isAdmin && <strong>{accessWords[remote.access].title}. </strong>}
        {accessWords[remote.access].meaning}
      </p>
      {isReadableByTheNetwork(remote) && (
        <p class="warning">
          <Icon name="warning" />
          <span>
            Whoever can read this network can become this device. Name a certificate under <code>[tls]</code>{" "}
            in config.toml, or use a tunnel.
          </span>
        </p>
      )}
      <List label="Addresses">
        {remote.addresses.map(({ kind, address }) => (
          <Row
            key={address}
            title={<span class="address-text">{address}</span>}
            detail={kindWords[kind]}
            actions={<CopyButton text={address} label={`Copy ${address}`} />}
          />
        ))}
      </List>
      {wanted.value !== null && (
        <ConfirmDialog
          title="Cut this page off?"
          verb="Cut it off"
          keep="Leave it as it is"
          onClose={() => (wanted.value = null)}
          onConfirm={() => void change(wanted.value ?? remote.access)}
        >
          <p>
            This page comes over the way that you close. It ends at once, and only somebody at the machine can
            open the way again.
          </p>
        </ConfirmDialog>
      )}
    </section>
  );
}
