import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Remote } from "../../src/protocol/objects.ts";
import type { Daemon, DoorPort } from "./daemon.ts";
import { call } from "./rest.ts";

const upTimeoutMs = 30_000;

/** Waits until the tunnel is up and yields where it leads in. */
export async function tunnelUp({ url, masterToken }: Daemon): Promise<DoorPort> {
  const deadline = performance.now() + upTimeoutMs;
  for (;;) {
    const { tunnel } = await call<Remote>("GET", `${url}/api/remote`, masterToken);
    if (tunnel.state === "up" && tunnel.url !== null)
      return { port: Number(new URL(tunnel.url).port), url: tunnel.url };
    if (performance.now() > deadline) throw new Error(`the tunnel is not up: ${JSON.stringify(tunnel)}`);
    await delay(50);
  }
}

export async function startTunnel({ url, masterToken }: Daemon, body: object): Promise<void> {
  await call("POST", `${url}/api/tunnel`, masterToken, body);
}

/**
 * Writes a tool that names the door itself as its address, so that nothing else is between client and daemon, and then
 * does what `script` says. Yields the configuration for it.
 */
export async function tunnelConfig(folder: string, script: string): Promise<string> {
  const path = join(folder, "tool");
  await writeFile(path, `#!/bin/sh\necho "http://127.0.0.1:$1"\n${script}\n`);
  await chmod(path, 0o755);
  return `[tunnel]\ninsecure_http = true\n[tunnel.command]\ncommand = ["${path}", "{port}"]\nurl_pattern = "http://\\\\S+"\n`;
}
