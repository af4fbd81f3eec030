import { useSignal } from "@preact/signals";
import { limits } from "../../src/protocol/limits.ts";
import type { Device } from "../../src/protocol/objects.ts";
import { errorText } from "../state/error-text.ts";
import { useSession } from "../state/session.ts";
import { toast } from "../state/toasts.ts";
import { ConfirmDialog } from "../ui/confirm-dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { Row } from "../ui/list.tsx";
import { Menu, type MenuItem } from "../ui/menu.tsx";
import { NameDialog } from "../ui/name-dialog.tsx";
import { Time } from "../ui/time.tsx";
import { visible } from "../ui/visible-text.ts";
import { DeviceScopes } from "./device-scopes.tsx";
import { deviceIcon } from "./device-words.ts";
import { scopeNames } from "./scope-words.ts";

interface DeviceRowProps {
  readonly device: Device;
  readonly onChanged: () => void;
}

/** One device: who it is, and what can be done about it. */
export function DeviceRow({ device, onChanged }: DeviceRowProps) {
  const session = useSession();
  const asks = useSignal<"rename" | "scopes" | "revoke" | null>(null);
  const isAdmin = session.may("admin");
  const name = visible(device.name);
  const close = (): void => {
    asks.value = null;
  };

  async function send(method: "PATCH" | "DELETE", body?: unknown): Promise<void> {
    close();
    try {
      await session.rest.request(method, `/api/devices/${device.id}`, body);
      if (method === "DELETE" && !device.current) toast(`${name} is out.`);
      // What this page offers goes by its scopes.
      if (method === "PATCH" && device.current) session.client.refresh();
    } catch (error) {
      toast(errorText(error), { kind: "problem" });
    }
    onChanged();
  }

  const items: readonly MenuItem[] = [
    { label: "Rename", icon: "edit", run: () => (asks.value = "rename") },
    ...(isAdmin
      ? [{ label: "What it may do", icon: "approve", run: () => (asks.value = "scopes") } as const]
      : []),
    {
      label: device.current ? "Sign this device out" : "Revoke",
      icon: "trash",
      isDanger: true,
      run: () => (asks.value = "revoke"),
    },
  ];
  return (
    <>
      <Row
        lead={<Icon name={deviceIcon(device.kind)} />}
        title={
          <>
            {name}
            {device.current && <span class="quiet-text"> (this device)</span>}
          </>
        }
        detail={<Facts device={device} />}
        actions={(isAdmin || device.current) && <Menu label={`More about ${name}`} items={items} />}
      />
      {asks.value === "rename" && (
        <NameDialog
          title="Rename the device"
          name={device.name}
          maxChars={limits.deviceNameChars}
          verb="Rename"
          onClose={close}
          onName={(next) => void send("PATCH", { name: next })}
        />
      )}
      {asks.value === "scopes" && (
        <DeviceScopes device={device} onClose={close} onScopes={(scopes) => void send("PATCH", { scopes })} />
      )}
      {asks.value === "revoke" && (
        <ConfirmDialog
          title={device.current ? "Sign this device out?" : `Revoke ${name}?`}
          verb={device.current ? "Sign out" : "Revoke"}
          onClose={close}
          onConfirm={() => void send("DELETE")}
        >
          <p>
            {device.current ? "This page" : "It"} is cut off at once and has to be paired again. What it
            started goes on; codes that it made and nobody used die.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}

function Facts({ device }: { readonly device: Device }) {
  return (
    <span class="device-facts">
      <span>
        {device.connected > 0 ? (
          "Connected now"
        ) : device.last_seen === null ? (
          "Not seen yet"
        ) : (
          <>
            Seen <Time at={device.last_seen} />
          </>
        )}
      </span>
      <span>
        Paired <Time at={device.created} />
      </span>
      <span>{scopeNames(device.scopes)}</span>
      {device.expires !== null && <span>Until {new Date(device.expires).toLocaleDateString()}</span>}
    </span>
  );
}
