import { setTimeout as delay } from "node:timers/promises";
import type { Rest } from "../client/rest.ts";
import type { Remote } from "../protocol/objects.ts";
import type { Call } from "./command.ts";
import { tunnelLines } from "./tunnel-text.ts";

const pollMs = 300;
/** How long to stay to see it come up. The tunnel goes on without us. */
const waitMs = 120_000;

/** Waits for up or failed; says what the tool waits for as soon as it is known. With --json that ends the wait. */
export async function settled(call: Call, { rest }: { readonly rest: Rest }, first: Remote): Promise<Remote> {
  const giveUpAt = call.io.now() + waitMs;
  let remote = first;
  let said = "";
  for (;;) {
    const { tunnel } = remote;
    if (tunnel.state === "up" || tunnel.state === "failed" || tunnel.state === "off") return remote;
    if (tunnel.state === "waiting" && call.json) return remote;
    const text = tunnelLines(tunnel).join("\n");
    if (text !== said && !call.json) await call.out.line(text);
    said = text;
    if (call.io.now() > giveUpAt) return remote;
    await delay(pollMs);
    remote = await rest.body<Remote>("GET", "/api/remote");
  }
}
