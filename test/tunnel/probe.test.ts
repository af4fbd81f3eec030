import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createProber, splitAddress } from "../../src/tunnel/probe.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function serve(handle: Parameters<typeof createServer>[1]): Promise<number> {
  const server = createServer(handle as never).listen(0, "127.0.0.1");
  servers.push(server);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

const signal = new AbortController().signal;
const target = (url: string, probeAddress: string | null = null) => ({
  url,
  door: "ssh",
  probeAddress,
  ca: null,
});

describe("createProber", () => {
  it("says up when the id arrived at the door, below the base path and under the public name", async () => {
    const prober = createProber(5_000);
    let seen = "";
    const port = await serve((request, response) => {
      seen = `${request.headers.host} ${request.url?.split("?")[0]}`;
      prober.noteArrival("ssh", new URL(request.url ?? "", "http://x").searchParams.get("probe") ?? "");
      response.end("{}");
    });
    expect(await prober.probe(target("http://sally.example/base", `127.0.0.1:${port}`), signal)).toEqual({
      ok: true,
    });
    expect(seen).toBe("sally.example /base/api/hello");
  });

  it.each([
    ["somebody else answers", 200, null, "somebody else"],
    ["a proxy with nothing behind it answers", 502, null, "nothing behind it"],
    ["a login page of a captive network answers", 302, null, "redirect"],
    ["it leads to the main door", 200, "main", "door main"],
    ["the answer does not come back", 403, "ssh", "does not come back"],
  ])("is not up when %s", async (_, status, door, text) => {
    const prober = createProber(5_000);
    const port = await serve((request, response) => {
      const id = new URL(request.url ?? "", "http://x").searchParams.get("probe") ?? "";
      if (door !== null) prober.noteArrival(door, id);
      response.writeHead(status).end();
    });
    const result = await prober.probe(target(`http://127.0.0.1:${port}`), signal);
    expect(result).toMatchObject({ ok: false, reason: expect.stringContaining(text) });
  });

  it("replay: an id of an earlier probe proves nothing", async () => {
    const prober = createProber(5_000);
    const ids: string[] = [];
    const port = await serve((request, response) => {
      ids.push(new URL(request.url ?? "", "http://x").searchParams.get("probe") ?? "");
      prober.noteArrival("ssh", ids[0] ?? "");
      response.end();
    });
    expect((await prober.probe(target(`http://127.0.0.1:${port}`), signal)).ok).toBe(true);
    expect((await prober.probe(target(`http://127.0.0.1:${port}`), signal)).ok).toBe(false);
    expect(ids[0]).not.toBe(ids[1]);
  });

  it("names what to set where this machine cannot get there, and gives up in time", async () => {
    const prober = createProber(200);
    const closed = await serve(() => undefined);
    const silent = await prober.probe(target(`http://127.0.0.1:${closed}`), signal);
    expect(silent).toMatchObject({ ok: false, reason: expect.stringContaining("tunnel.probe_address") });
    const unknown = await prober.probe(target("https://nobody.invalid"), signal);
    expect(unknown.ok).toBe(false);
  });
});

describe("splitAddress", () => {
  it.each([
    ["127.0.0.1:8443", { host: "127.0.0.1", port: 8_443 }],
    ["[::1]:8443", { host: "::1", port: 8_443 }],
    ["box", { host: "box", port: null }],
    ["box:0", null],
    ["box:99999", null],
    ["::1:80", null],
  ])("%s", (raw, expected) => {
    expect(splitAddress(raw)).toEqual(expected);
  });
});
