import { readFile } from "node:fs/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  formatDeviceFile,
  maxDevices,
  parseDeviceFile,
  type StoredDevice,
} from "../../src/pairing/device-file.ts";
import { createDeviceRegistry, type DeviceRegistryOptions } from "../../src/pairing/device-registry.ts";
import { fakeClock, refusalOf, storedDevice, temporaryHome } from "./fakes.ts";

const noSpace = (): Error => Object.assign(new Error("no space left"), { code: "ENOSPC" });

function setUp(devices: readonly StoredDevice[] = [], options: Partial<DeviceRegistryOptions> = {}) {
  const clock = fakeClock();
  const onChange = vi.fn();
  const onExpired = vi.fn();
  const onProblem = vi.fn();
  const disk = { text: "", writes: 0, refuses: null as Error | null };
  const registry = createDeviceRegistry({
    path: "/nowhere/devices.json",
    devices,
    clock,
    onChange,
    onExpired,
    onProblem,
    writeFile: async (_, text) => {
      disk.writes += 1;
      await Promise.resolve();
      if (disk.refuses) throw disk.refuses;
      disk.text = text;
    },
    firstRetryMs: 100,
    maxRetryMs: 400,
    ...options,
  });
  const onDisk = (): readonly StoredDevice[] => {
    const parsed = parseDeviceFile(disk.text);
    if (!parsed.ok) throw new Error(parsed.problem);
    return parsed.devices;
  };
  return { clock, registry, disk, onDisk, onChange, onExpired, onProblem };
}

afterEach(() => {
  vi.useRealTimers();
});

describe("the device registry", () => {
  it("has a device on disk when add resolves, and reads it back", async () => {
    const home = await temporaryHome();
    const real = createDeviceRegistry({
      path: home.devices,
      devices: [],
      clock: fakeClock(),
      onChange: () => undefined,
      onExpired: () => undefined,
      onProblem: () => undefined,
    });
    const device = storedDevice();
    await real.add(device);
    expect(await readFile(home.devices, "utf8")).toBe(formatDeviceFile([device]));
    await real.close();
  });

  it("add: a disk that refuses leaves no device behind", async () => {
    const { registry, disk } = setUp();
    disk.refuses = noSpace();
    const refusal = await refusalOf(registry.add(storedDevice()));
    expect(refusal).toMatchObject({ code: "disk_full", status: 503 });
    expect(registry.count).toBe(0);
    disk.refuses = null;
    await registry.close();
    expect(disk.text).toBe(formatDeviceFile([]));
  });

  it("revoke: the lease ends at once, the disk follows, then the promise resolves", async () => {
    const device = storedDevice();
    const { registry, onDisk, onChange } = setUp([device]);
    const lease = registry.get(device.id)?.lease;
    const ends: string[] = [];
    lease?.onEnd((end) => ends.push(end));
    const revoked = registry.revoke(device.id);
    expect(ends).toEqual(["revoked"]);
    expect(lease?.ended).toBe("revoked");
    expect(registry.get(device.id)).toBeNull();
    expect(onChange).toHaveBeenCalledTimes(1);
    await revoked;
    expect(onDisk()).toEqual([]);
    expect(await refusalOf(registry.revoke(device.id))).toMatchObject({ code: "not_found" });
  });

  it("revoke: with the announcement for later the device is out at once, its listeners hear when told", async () => {
    const device = storedDevice();
    const { registry } = setUp([device]);
    const lease = registry.get(device.id)?.lease;
    const listener = vi.fn();
    lease?.onEnd(listener);
    const { announce } = await registry.revoke(device.id, { announceLater: true });
    expect(lease?.ended).toBe("revoked");
    expect(listener).not.toHaveBeenCalled();
    announce();
    announce();
    expect(listener).toHaveBeenCalledTimes(1);
  });

  it("revoke: a reply that never leaves does not keep the sockets open", async () => {
    vi.useFakeTimers();
    const device = storedDevice();
    const { registry } = setUp([device]);
    const listener = vi.fn();
    registry.get(device.id)?.lease.onEnd(listener);
    await registry.revoke(device.id, { announceLater: true });
    await vi.advanceTimersByTimeAsync(500);
    expect(listener).toHaveBeenCalledWith("revoked");
  });

  it("revoke: a listener that throws does not keep the others from hearing", async () => {
    const device = storedDevice();
    const { registry, onProblem } = setUp([device]);
    const lease = registry.get(device.id)?.lease;
    const fault = new Error("a fault of ours");
    lease?.onEnd(() => {
      throw fault;
    });
    const listener = vi.fn();
    lease?.onEnd(listener);
    await registry.revoke(device.id);
    expect(listener).toHaveBeenCalledTimes(1);
    expect(onProblem).toHaveBeenCalledWith(fault);
  });

  it.each([
    ["a full disk", noSpace(), "disk_full"],
    ["another fault", Object.assign(new Error("io"), { code: "EIO" }), "internal"],
  ])(
    "revoke: %s does not keep a device in; the caller is told and the write is retried",
    async (_, fault, code) => {
      vi.useFakeTimers();
      const [lost, kept] = [storedDevice(), storedDevice()];
      const { registry, disk, onDisk, onProblem } = setUp([lost, kept]);
      disk.refuses = fault;
      const refusal = await refusalOf(registry.revoke(lost.id));
      expect(refusal).toMatchObject({ code, status: 503 });
      expect(refusal.message).toMatch(/out, but the disk refused/);
      expect(registry.get(lost.id)).toBeNull();
      await vi.advanceTimersByTimeAsync(1_000);
      expect(disk.writes).toBe(4);
      expect(onProblem).toHaveBeenCalledTimes(4);
      disk.refuses = null;
      await vi.advanceTimersByTimeAsync(400);
      expect(onDisk().map(({ id }) => id)).toEqual([kept.id]);
      const { writes } = disk;
      await vi.advanceTimersByTimeAsync(60_000);
      expect(disk.writes).toBe(writes);
    },
  );

  it("revoke: what could not be written is written when the daemon ends", async () => {
    const device = storedDevice();
    const { registry, disk, onDisk } = setUp([device]);
    disk.refuses = noSpace();
    await refusalOf(registry.revoke(device.id));
    disk.refuses = null;
    await registry.close();
    expect(onDisk()).toEqual([]);
  });

  it("race: many changes at once are written one after the other, and the last state is on disk", async () => {
    let writing = 0;
    let most = 0;
    let text = "";
    const devices = Array.from({ length: 50 }, () => storedDevice());
    const { registry } = setUp(devices, {
      writeFile: async (_, newText) => {
        writing += 1;
        most = Math.max(most, writing);
        await new Promise((resolve) => setImmediate(resolve));
        text = newText;
        writing -= 1;
      },
    });
    await Promise.all(devices.slice(1).map(({ id }) => registry.revoke(id)));
    expect(most).toBe(1);
    expect(text).toContain(devices[0]?.id);
    expect(parseDeviceFile(text)).toMatchObject({ ok: true, devices: [{ id: devices[0]?.id }] });
  });

  it("update: leases see a new name and new scopes at once, in the order of the scopes", async () => {
    const device = storedDevice();
    const { registry, onDisk } = setUp([device]);
    const lease = registry.get(device.id)?.lease;
    const saved = registry.update(device.id, { name: "Tablet", scopes: ["drive", "view", "drive"] });
    expect(lease?.name).toBe("Tablet");
    expect([...(lease?.scopes ?? [])]).toEqual(["view", "drive"]);
    await saved;
    expect(onDisk()[0]).toMatchObject({ name: "Tablet", scopes: ["view", "drive"] });
  });

  it("expiry: the lease ends on time, once, and the device stays listed", async () => {
    vi.useFakeTimers();
    const clock = fakeClock();
    const device = storedDevice({ expires: new Date(clock.wallMs + 5_000).toISOString() });
    const { registry, onExpired } = setUp([device], { clock });
    const lease = registry.get(device.id)?.lease;
    const listener = vi.fn();
    lease?.onEnd(listener);
    clock.pass(4_999);
    await vi.advanceTimersByTimeAsync(4_999);
    expect([lease?.ended, listener.mock.calls.length]).toEqual([null, 0]);
    clock.pass(1);
    expect(lease?.ended).toBe("expired");
    await vi.advanceTimersByTimeAsync(1);
    expect(listener.mock.calls).toEqual([["expired"]]);
    await vi.advanceTimersByTimeAsync(120_000);
    expect(onExpired).toHaveBeenCalledTimes(1);
    expect(registry.list()).toHaveLength(1);
    clock.pass(-86_400_000);
    expect(lease?.ended).toBe("expired");
  });

  it("expiry: ten years ahead does not fire at once, and a jump of the wall clock is noticed", async () => {
    vi.useFakeTimers();
    const clock = fakeClock();
    const tenYearsMs = 3_650 * 86_400_000;
    const device = storedDevice({ expires: new Date(clock.wallMs + tenYearsMs).toISOString() });
    const { registry, onExpired } = setUp([device], { clock });
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(onExpired).not.toHaveBeenCalled();
    clock.wallMs += tenYearsMs;
    expect(registry.get(device.id)?.lease.ended).toBe("expired");
    await vi.advanceTimersByTimeAsync(30_000);
    expect(onExpired).toHaveBeenCalledTimes(1);
  });

  it("last_seen: a thousand requests cost one write, a minute later or at the end", async () => {
    vi.useFakeTimers();
    const device = storedDevice();
    const { registry, disk, onDisk, clock } = setUp([device]);
    for (let count = 0; count < 1_000; count += 1) registry.touch(device.id);
    expect(registry.list()[0]?.stored.last_seen).toBe("2026-11-30T12:00:00.000Z");
    await vi.advanceTimersByTimeAsync(59_999);
    expect(disk.writes).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(disk.writes).toBe(1);
    expect(onDisk()[0]?.last_seen).toBe("2026-11-30T12:00:00.000Z");
    clock.pass(1_000);
    registry.touch(device.id);
    await registry.close();
    expect(onDisk()[0]?.last_seen).toBe("2026-11-30T12:00:01.000Z");
    registry.touch("unknown");
  });

  it("bounds: a thousand devices are the most; expired ones make room", async () => {
    const clock = fakeClock();
    const devices = Array.from({ length: maxDevices }, () => storedDevice());
    const full = setUp(devices, { clock });
    expect(await refusalOf(full.registry.add(storedDevice()))).toMatchObject({ code: "overloaded" });
    expect(full.disk.writes).toBe(0);
    const [first, ...others] = devices;
    const expired = storedDevice({ ...first, expires: "2026-01-01T00:00:00.000Z" });
    const room = setUp([expired, ...others], { clock });
    await room.registry.add(storedDevice());
    expect(room.registry.count).toBe(maxDevices);
    expect(room.registry.get(expired.id)).toBeNull();
  });

  it("bounds: opening pages for ever does not fill the list; the one unseen for the longest goes", async () => {
    const pages = Array.from({ length: 100 }, (_, index) =>
      storedDevice({ local_only: true, last_seen: new Date(1_000 * (index + 1)).toISOString() }),
    );
    const phone = storedDevice({ created: "2020-01-01T00:00:00.000Z" });
    const { registry } = setUp([phone, ...pages]);
    const oldest = registry.get(pages[0]?.id ?? "")?.lease;
    await registry.add(storedDevice({ local_only: true }));
    expect(oldest?.ended).toBe("revoked");
    expect(registry.count).toBe(101);
    expect(registry.get(phone.id)).not.toBeNull();
  });
});
