import { beforeEach, describe, expect, it, vi } from "vitest";
import type { AuditEvent } from "../../src/auth/audit.ts";
import type { DaemonState, StateStore } from "../../src/daemon/daemon-state.ts";
import { createExposure } from "../../src/daemon/exposure.ts";
import { silentLog } from "../../src/lib/log.ts";

const local = { device: null, name: "local" };
let happened: string[];
let audited: AuditEvent[];
let disk: DaemonState;
let diskError: Error | null;
let networkError: Error | null;

beforeEach(() => {
  happened = [];
  audited = [];
  diskError = null;
  networkError = null;
  disk = { access: "off", host: null, door_ports: {} };
});

function fakeState(): StateStore {
  let current = disk;
  return {
    get current() {
      return current;
    },
    async update(change) {
      current = { ...current, ...change };
      if (diskError) throw diskError;
      disk = current;
    },
  };
}

function start() {
  const exposure = createExposure({
    state: fakeState(),
    network: {
      async open() {
        if (networkError) throw networkError;
        happened.push("open");
      },
      async close() {
        happened.push("close");
      },
    },
    closeRemote: (which) => happened.push(`drop ${which} at ${exposure.access}`),
    onChange: () => happened.push(`change ${exposure.access}`),
    audit: (event) => audited.push(event),
    log: silentLog,
    retryMs: 1,
  });
  return exposure;
}

const noSpace = Object.assign(new Error("no space"), { code: "ENOSPC" });

describe("createExposure", () => {
  it("opens the network for on, and drops the network's connections on the way to tunnel", async () => {
    const exposure = start();
    await exposure.set("on", local);
    await exposure.set("tunnel", local);
    await exposure.set("off", null);
    expect(happened).toEqual([
      "open",
      "change on",
      "drop network at tunnel",
      "close",
      "change tunnel",
      "drop all at off",
      "change off",
    ]);
    expect(audited).toEqual([
      { type: "exposure_changed", from: "off", to: "on", by: local },
      { type: "exposure_changed", from: "on", to: "tunnel", by: local },
      { type: "exposure_changed", from: "tunnel", to: "off", by: null },
    ]);
  });

  it("does nothing, and audits nothing, when it is so already", async () => {
    const exposure = start();
    await exposure.set("off", local);
    expect([happened, audited]).toEqual([[], []]);
  });

  it("stays as it was when the network cannot be opened", async () => {
    const exposure = start();
    networkError = new Error("The certificate cannot be read.");
    await expect(exposure.set("on", local)).rejects.toThrow("certificate");
    expect(exposure.access).toBe("off");
    expect(disk.access).toBe("off");
    expect(audited).toEqual([]);
  });

  it("a full disk: does not open what it cannot remember, and says so", async () => {
    const exposure = start();
    diskError = noSpace;
    await expect(exposure.set("on", local)).rejects.toMatchObject({ code: "disk_full", status: 503 });
    expect(exposure.access).toBe("off");
    expect(happened).toEqual(["open", "close"]);
  });

  it("a full disk: closes all the same, says so, and writes it when there is room", async () => {
    const exposure = start();
    await exposure.set("on", local);
    diskError = noSpace;
    await expect(exposure.set("off", local)).rejects.toMatchObject({ code: "disk_full", status: 503 });
    expect(exposure.access).toBe("off");
    expect(happened).toContain("drop all at off");
    expect(disk.access).toBe("on");
    diskError = null;
    await vi.waitFor(() => expect(disk.access).toBe("off"), { timeout: 60_000 });
  });

  it("restores what was set before the daemon ended", async () => {
    disk = { ...disk, access: "on" };
    const exposure = start();
    expect(await exposure.restore()).toBeNull();
    expect(exposure.access).toBe("on");
    expect(happened).toEqual(["open"]);
  });

  it("stays closed, with the reason, when what was set cannot be opened, and keeps it for the next start", async () => {
    disk = { ...disk, access: "on" };
    networkError = new Error("The certificate cannot be read.");
    const exposure = start();
    expect(await exposure.restore()).toContain("certificate");
    expect(exposure.access).toBe("off");
    expect(disk.access).toBe("on");
    await exposure.set("off", local);
    expect(disk.access).toBe("off");
  });

  it("takes changes one after the other: the last one counts", async () => {
    const exposure = start();
    await Promise.all([
      exposure.set("on", local),
      exposure.set("off", local),
      exposure.set("tunnel", local),
      exposure.set("off", local),
      exposure.set("on", local),
    ]);
    expect(exposure.access).toBe("on");
    expect(happened.filter((what) => what === "open")).toHaveLength(2);
    expect(happened.filter((what) => what === "close")).toHaveLength(1);
  });

  it("takes no change any more at the end of the daemon, and forgets nothing", async () => {
    const exposure = start();
    await exposure.set("on", local);
    await exposure.close();
    await expect(exposure.set("off", local)).rejects.toMatchObject({ code: "overloaded" });
    expect(disk.access).toBe("on");
  });
});
