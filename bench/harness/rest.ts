import type { DoorPort } from "./daemon.ts";

/** Sends JSON and returns the JSON of a 2xx answer. */
export async function call<T>(method: string, url: string, token: string | null, body?: unknown): Promise<T> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(20_000),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text}`);
  return (text === "" ? null : JSON.parse(text)) as T;
}

export interface Device {
  readonly id: string;
  readonly token: string;
}

/** Opens the doors, mints a code and pairs a device at the door, as a phone would. */
export async function pairDevice(
  daemon: { readonly url: string; readonly masterToken: string },
  door: DoorPort,
): Promise<Device> {
  await call("POST", `${daemon.url}/api/remote`, daemon.masterToken, { access: "tunnel" });
  const { code } = await call<{ code: string }>(
    "POST",
    `${daemon.url}/api/pair/codes`,
    daemon.masterToken,
    {},
  );
  const { token, device } = await call<{ token: string; device: { id: string } }>(
    "POST",
    `${door.url}/api/pair`,
    null,
    { code, name: "bench" },
  );
  return { id: device.id, token };
}
