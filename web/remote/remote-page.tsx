import { useSession } from "../state/session.ts";
import { Page } from "../ui/page.tsx";
import { Spinner } from "../ui/states.tsx";
import { AccessSection } from "./access-section.tsx";
import { DevicesSection } from "./devices-section.tsx";
import { TunnelSection } from "./tunnel-section.tsx";
import "./remote-page.css";

/** Who reaches the daemon and how: devices, the network, the tunnel. */
export function RemotePage() {
  const { remote } = useSession();
  return (
    <Page title="Remote access" lead="Which devices may work here, and over which ways.">
      <DevicesSection />
      {remote.value === null ? (
        <Spinner />
      ) : (
        <>
          <AccessSection remote={remote.value} />
          <TunnelSection tunnel={remote.value.tunnel} />
        </>
      )}
    </Page>
  );
}
