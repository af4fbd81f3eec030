import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNetworkSide, type NetworkSettings } from "../../src/daemon/network-side.ts";

const systemError = (code: string) => Object.assign(new Error(code), { code });
const tlsFolder = new URL("../gateway/gate/tls/", import.meta.url).pathname;
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sallyport-door-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A door that notes what is asked of it. An address in `unbindable` cannot be listened on. */
function fakeDoor(bindError: Error | null = null, unbindable: string | null = null) {
  const asked: string[] = [];
  return {
    asked,
    port: 7700,
    setTls: (tls: unknown) => void asked.push(tls === null ? "plain" : "tls"),
    setBinds: async (binds: readonly { host: string }[]) => {
      const hosts = binds.map(({ host }) => host);
      if (bindError && (unbindable === null || hosts.includes(unbindable))) throw bindError;
      asked.push(hosts.join());
    },
    closeWhere: () => void asked.push("close plain"),
  };
}

function side(door: ReturnType<typeof fakeDoor>, settings: Partial<NetworkSettings> = {}) {
  return createNetworkSide({ door, settings: { host: null, tls: null, ...settings }, closeGraceMs: 0 });
}

const goodTls = { certPath: join(tlsFolder, "cert.pem"), keyPath: join(tlsFolder, "key.pem") };

describe("createNetworkSide", () => {
  it("opens all interfaces, or the named address beside loopback, and closes to loopback", async () => {
    const all = fakeDoor();
    const network = side(all);
    await network.open();
    await network.close();
    expect(all.asked).toEqual(["plain", "::", "127.0.0.1,::1", "plain"]);
    const one = fakeDoor();
    await side(one, { host: "192.168.1.20" }).open();
    expect(one.asked).toEqual(["plain", "127.0.0.1,::1,192.168.1.20"]);
  });

  it("sets the certificate before it listens, so that nothing is ever answered without it", async () => {
    const door = fakeDoor();
    await side(door, { tls: goodTls }).open();
    expect(door.asked).toEqual(["tls", "::"]);
  });

  it("does not open with a certificate that is missing or damaged, and names it", async () => {
    const door = fakeDoor();
    const certPath = join(folder, "cert.pem");
    const keyPath = join(tlsFolder, "key.pem");
    const network = side(door, { tls: { certPath, keyPath } });
    await expect(network.open()).rejects.toMatchObject({
      code: "not_supported",
      message: expect.stringContaining(`${certPath} cannot be read (ENOENT)`),
    });
    await writeFile(certPath, "junk");
    await expect(network.open()).rejects.toThrow(certPath);
    expect(door.asked).toEqual([]);
  });

  it("says what is wrong when the address cannot be bound", async () => {
    await expect(side(fakeDoor(systemError("EADDRINUSE"))).open()).rejects.toMatchObject({
      code: "conflict",
      reason: "in_use",
    });
    await expect(side(fakeDoor(systemError("EADDRNOTAVAIL")), { host: "192.0.2.1" }).open()).rejects.toThrow(
      "192.0.2.1 cannot be listened on",
    );
  });
});

describe("other settings for the network side", () => {
  it("count at the next opening while it is closed", async () => {
    const door = fakeDoor();
    const network = side(door);
    (await network.prepare({ host: "192.168.1.20", tls: goodTls })).commit();
    expect(door.asked).toEqual([]);
    expect(network.hasTls).toBe(true);
    await network.open();
    expect(door.asked).toEqual(["tls", "127.0.0.1,::1,192.168.1.20"]);
  });

  it("move an open one, and end what speaks no TLS when it must from now on", async () => {
    const door = fakeDoor();
    const network = side(door);
    await network.open();
    door.asked.length = 0;
    (await network.prepare({ host: "192.168.1.20", tls: goodTls })).commit();
    expect(door.asked).toEqual(["127.0.0.1,::1,192.168.1.20", "tls", "close plain"]);
    door.asked.length = 0;
    (await network.prepare({ host: "192.168.1.20", tls: goodTls })).commit();
    expect(door.asked).toEqual(["tls"]);
  });

  it("are as they were when another part refuses", async () => {
    const door = fakeDoor();
    const network = side(door);
    await network.open();
    door.asked.length = 0;
    await (await network.prepare({ host: "192.168.1.20", tls: goodTls })).abandon();
    expect(door.asked).toEqual(["127.0.0.1,::1,192.168.1.20", "::"]);
    expect(network.hasTls).toBe(false);
  });

  it("are refused with a certificate that cannot be used or an address that cannot be listened on", async () => {
    const door = fakeDoor(systemError("EADDRNOTAVAIL"), "192.0.2.1");
    const network = side(door);
    const certPath = join(folder, "cert.pem");
    const badTls = { ...goodTls, certPath };
    await expect(network.prepare({ host: null, tls: badTls })).rejects.toThrow(`${certPath} cannot be read`);
    await writeFile(certPath, "junk");
    await expect(network.prepare({ host: null, tls: badTls })).rejects.toThrow("[tls] in config.toml");
    await network.open();
    await expect(network.prepare({ host: "192.0.2.1", tls: null })).rejects.toThrow("host in config.toml");
    expect(door.asked).toEqual(["plain", "::"]);
  });
});
