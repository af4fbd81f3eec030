import { useSignal } from "@preact/signals";
import type { Tunnel } from "../../src/protocol/objects.ts";
import { errorText } from "../state/error-text.ts";
import { useSession } from "../state/session.ts";
import { toast } from "../state/toasts.ts";
import { Button } from "../ui/button.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { StateMark } from "../ui/state-mark.tsx";
import { visible } from "../ui/visible-text.ts";
import { httpLink } from "./http-link.ts";
import { tunnelProviders } from "./tunnel-fields.ts";
import { TunnelForm } from "./tunnel-form.tsx";

/** The way from anywhere: how it is, what it waits for, start and stop. */
export function TunnelSection({ tunnel }: { readonly tunnel: Tunnel }) {
  const session = useSession();
  const isAdmin = session.may("admin");
  const isStarting = useSignal(false);
  const isStopping = useSignal(false);

  async function stop(): Promise<void> {
    isStopping.value = true;
    try {
      await session.rest.request("DELETE", "/api/tunnel");
    } catch (error) {
      toast(errorText(error), { kind: "problem" });
    }
    isStopping.value = false;
  }

  return (
    <section class="remote-section" aria-labelledby="tunnel-title">
      <header>
        <h2 id="tunnel-title">Tunnel</h2>
        {isAdmin &&
          (tunnel.state === "off" ? (
            <Button icon="link" onClick={() => (isStarting.value = true)}>
              Start a tunnel
            </Button>
          ) : (
            <Button icon="stop" isBusy={isStopping.value} onClick={() => void stop()}>
              Stop it
            </Button>
          ))}
      </header>
      <div role="status">
        {tunnel.state === "off" ? (
          <p class="quiet-text">A tunnel gives this daemon an address that works from anywhere.</p>
        ) : (
          <p>
            <StateMark state={tunnel.state} /> {titleOf(tunnel.provider)}
          </p>
        )}
        {tunnel.text !== null && <p class="tunnel-log">{visible(tunnel.text)}</p>}
        {tunnel.reason !== null && <p class="problem-text">{visible(tunnel.reason)}</p>}
        {tunnel.next_try !== null && (
          <p class="quiet-text">The next try is at {new Date(tunnel.next_try).toLocaleTimeString()}.</p>
        )}
      </div>
      <WaitLink link={tunnel.link} />
      {tunnel.url !== null && (
        <p class="button-row">
          <span class="address-text">{tunnel.url}</span>
          <CopyButton text={tunnel.url} label="Copy the address" />
        </p>
      )}
      {isStarting.value && <TunnelForm onClose={() => (isStarting.value = false)} />}
    </section>
  );
}

/** What the tool wants a person to open, when it is an address of the web. */
function WaitLink({ link }: { readonly link: string | null }) {
  const href = link === null ? null : httpLink(link);
  if (href === null) return null;
  return (
    <p>
      <a href={href} target="_blank" rel="noopener noreferrer">
        Open what it waits for: {new URL(href).host}
      </a>
    </p>
  );
}

function titleOf(provider: string | null): string {
  return tunnelProviders.find(({ name }) => name === provider)?.title ?? provider ?? "";
}
