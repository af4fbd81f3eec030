import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Device } from "../../src/protocol/objects.ts";
import { useSession } from "../state/session.ts";
import { useRest } from "../state/use-rest.ts";
import { Button } from "../ui/button.tsx";
import { List } from "../ui/list.tsx";
import { ErrorState, Spinner } from "../ui/states.tsx";
import { DeviceRow } from "./device-row.tsx";
import { sortDevices } from "./device-words.ts";
import { PairAnother } from "./pair-another.tsx";

/** Every paired device: when it was here, what it may do, out with it; and one more. */
export function DevicesSection() {
  const { remote, snapshot, may } = useSession();
  const devices = useRest<{ readonly devices: readonly Device[] }>("/api/devices");
  const isPairing = useSignal(false);
  // Paired, revoked, came or went: nothing else tells of a device.
  const news = `${remote.value?.devices ?? 0} ${snapshot.value?.daemon.clients ?? 0}`;
  const { reload } = devices;
  const lastNews = useRef(news);
  useEffect(() => {
    if (lastNews.current !== news) reload();
    lastNews.current = news;
  }, [news]);
  return (
    <section class="remote-section" aria-labelledby="devices-title">
      <header>
        <h2 id="devices-title">Devices</h2>
        {may("admin") && (
          <Button kind="primary" icon="plus" onClick={() => (isPairing.value = true)}>
            Pair another
          </Button>
        )}
      </header>
      {devices.problem !== null && <ErrorState problem={devices.problem} onRetry={reload} />}
      {devices.value === null && devices.problem === null && <Spinner />}
      {devices.value !== null && (
        <List label="Devices">
          {sortDevices(devices.value.devices).map((device) => (
            <DeviceRow key={device.id} device={device} onChanged={reload} />
          ))}
        </List>
      )}
      {isPairing.value && <PairAnother onClose={() => (isPairing.value = false)} />}
    </section>
  );
}
