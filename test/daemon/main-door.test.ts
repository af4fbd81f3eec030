import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { networkSide, openMainDoor } from "../../src/daemon/main-door.ts";

const systemError = (code: string) => Object.assign(new Error(code), { code });
const tlsFolder = new URL("../gateway/gate/tls/", import.meta.url).pathname;
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sallyport-door-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A door that notes what is asked of it. */
function fakeDoor(bindError: Error | null = null) {
  const asked: string[] = [];
  return {
    asked,
    port: 7700,
    setTls: (tls: { cert: string } | null) => {
      if (tls?.cert === "junk") throw new Error("no start line");
      asked.push(tls === null ? "plain" : "tls");
    },
    setBinds: async (binds: readonly { host: string }[]) => {
      if (bindError) throw bindError;
      asked.push(binds.map(({ host }) => host).join());
    },
  };
}

describe("networkSide", () => {
  it("opens all interfaces, or the named address beside loopback, and closes to loopback", async () => {
    const all = fakeDoor();
    const side = networkSide({ door: all, host: null, tls: null });
    await side.open();
    await side.close();
    expect(all.asked).toEqual(["plain", "::", "127.0.0.1,::1", "plain"]);
    const one = fakeDoor();
    await networkSide({ door: one, host: "192.168.1.20", tls: null }).open();
    expect(one.asked).toEqual(["plain", "127.0.0.1,::1,192.168.1.20"]);
  });

  it("sets the certificate before it listens, so that nothing is ever answered without it", async () => {
    const door = fakeDoor();
    const tls = { certPath: join(tlsFolder, "cert.pem"), keyPath: join(tlsFolder, "key.pem") };
    await networkSide({ door, host: null, tls }).open();
    expect(door.asked).toEqual(["tls", "::"]);
  });

  it("does not open with a certificate that is missing or damaged, and names it", async () => {
    const door = fakeDoor();
    const certPath = join(folder, "cert.pem");
    const keyPath = join(tlsFolder, "key.pem");
    const side = networkSide({ door, host: null, tls: { certPath, keyPath } });
    await expect(side.open()).rejects.toMatchObject({
      code: "not_supported",
      message: expect.stringContaining(`${certPath} cannot be read (ENOENT)`),
    });
    await writeFile(certPath, "junk");
    await expect(side.open()).rejects.toThrow(certPath);
    expect(door.asked).toEqual([]);
  });

  it("says what is wrong when the address cannot be bound", async () => {
    await expect(
      networkSide({ door: fakeDoor(systemError("EADDRINUSE")), host: null, tls: null }).open(),
    ).rejects.toMatchObject({ code: "conflict", reason: "in_use" });
    await expect(
      networkSide({ door: fakeDoor(systemError("EADDRNOTAVAIL")), host: "192.0.2.1", tls: null }).open(),
    ).rejects.toThrow("192.0.2.1 cannot be listened on");
  });
});

describe("openMainDoor", () => {
  const failing = (code: string) => ({ openDoor: () => Promise.reject(systemError(code)) });

  it("tells a port that this user may not have, and leaves other errors alone", async () => {
    await expect(openMainDoor(failing("EACCES"), 80, "spm_x")).rejects.toMatchObject({
      problem: "port_taken",
    });
    await expect(openMainDoor(failing("EMFILE"), 7700, "spm_x")).rejects.toMatchObject({ code: "EMFILE" });
  });

  it("takes silence on a taken port for a stranger's", async () => {
    await expect(openMainDoor(failing("EADDRINUSE"), 1, "spm_x")).rejects.toMatchObject({
      problem: "port_taken",
      message: expect.stringContaining("--port 2"),
    });
  });
});
