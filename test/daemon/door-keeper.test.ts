import { once } from "node:events";
import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import type { AuditEvent } from "../../src/auth/audit.ts";
import type { DaemonState, StateStore } from "../../src/daemon/daemon-state.ts";
import { createDoorKeeper } from "../../src/daemon/door-keeper.ts";
import { createGateway } from "../../src/gateway/gate-server.ts";
import { freePort } from "../helpers/free-port.ts";
import { request } from "../helpers/http.ts";

function fakeState(initial: Partial<DaemonState> = {}): StateStore {
  let current: DaemonState = { access: "tunnel", host: null, door_ports: {}, ...initial };
  return {
    get current() {
      return current;
    },
    async update(change) {
      current = { ...current, ...change };
    },
  };
}

/** A real gateway that says by which door and as what a request came in. */
function start(state = fakeState()) {
  const audited: AuditEvent[] = [];
  const changes: string[] = [];
  const gateway = createGateway({
    routes: [{ method: "GET", path: "/api/hello", scope: { needs: "public" } }],
    isStaticPath: () => false,
    verifyCredential: () => null,
    access: () => "tunnel",
    settings: { hosts: [], machineNames: [], origins: [], trustedProxies: [] },
    handleRequest: (_request, response) => response.end("hello"),
    handleUpgrade: (_request, socket) => socket.destroy(),
    nowMs: () => performance.now(),
  });
  const keeper = createDoorKeeper({
    gateway,
    state,
    audit: (event) => audited.push(event),
    onChange: () => changes.push(keeper.urls().join()),
    closeGraceMs: 0,
  });
  return { gateway, keeper, audited, changes, state };
}

const spec = { name: "ssh", publicUrl: null, addressSource: "none" as const };

describe("createDoorKeeper", () => {
  it("opens a door by code that answers under its public address only, and to nobody before it has one", async () => {
    const { gateway, keeper, audited, changes } = start();
    const door = await keeper.openDoor(spec);
    const base = `http://127.0.0.1:${door.port}`;
    const hello = (host: string) => request(base, "GET", "/api/hello", { headers: { host } });
    expect((await hello("box.example")).json.code).toBe("host_refused");
    door.setPublicUrl("https://box.example");
    expect((await hello("box.example")).status).toBe(200);
    expect((await hello("localhost")).json.code).toBe("host_refused");
    expect(keeper.urls()).toEqual(["https://box.example"]);
    await door.close();
    expect(keeper.urls()).toEqual([]);
    expect(changes).toEqual(["", "https://box.example", ""]);
    expect(audited.map(({ type }) => type)).toEqual(["door_opened", "door_closed"]);
    await gateway.close(0);
  });

  it("keeps the port of a provider over restarts, outside the range of outgoing connections", async () => {
    const first = start();
    const { port } = await first.keeper.openDoor(spec);
    await first.gateway.close(0);
    expect(port < 32_768).toBe(true);
    expect(first.state.current.door_ports).toEqual({ ssh: port });
    const second = start(first.state);
    expect((await second.keeper.openDoor(spec)).port).toBe(port);
    await second.gateway.close(0);
  });

  it("takes another port, and keeps that, when a stranger holds the one it had", async () => {
    const first = start();
    const { port } = await first.keeper.openDoor(spec);
    await first.gateway.close(0);
    const stranger = createServer().listen(port, "127.0.0.1");
    await once(stranger, "listening");
    const second = start(first.state);
    const door = await second.keeper.openDoor(spec);
    expect(door.port).not.toBe(port);
    expect(second.state.current.door_ports).toEqual({ ssh: door.port });
    await second.gateway.close(0);
    stranger.close();
  });

  it("does not open the same door twice", async () => {
    const { gateway, keeper } = start();
    await keeper.openDoor(spec);
    await expect(keeper.openDoor(spec)).rejects.toThrow(TypeError);
    await gateway.close(0);
  });

  it("names a door of the configuration that cannot be opened", async () => {
    const blocker = createServer().listen(0, "127.0.0.1");
    await once(blocker, "listening");
    const address = blocker.address();
    const port = typeof address === "object" && address ? address.port : 0;
    const { gateway, keeper } = start();
    await expect(
      keeper.openConfigured([{ name: "door-1", listen: { kind: "port", port }, url: "https://box.example" }]),
    ).rejects.toMatchObject({ problem: "listen", message: expect.stringContaining(`port ${port}`) });
    await gateway.close(0);
    blocker.close();
  });
});

describe("other doors in the configuration", () => {
  const door = (port: number, url: string) => ({ name: "x", listen: { kind: "port" as const, port }, url });
  const hello = (port: number, host: string) =>
    request(`http://127.0.0.1:${port}`, "GET", "/api/hello", { headers: { host } });

  it("open what is new, keep what stays, give it its new address, and close what is gone", async () => {
    const { gateway, keeper, audited } = start();
    const [one, two, three] = [await freePort(), await freePort(), await freePort()];
    await keeper.openConfigured([door(one, "https://one.example"), door(two, "https://two.example")]);
    const change = await keeper.prepareConfigured([
      door(three, "https://three.example"),
      door(two, "https://other.example"),
    ]);
    expect((await hello(three, "three.example")).json.code).toBe("host_refused");
    expect((await hello(two, "two.example")).status).toBe(200);
    change.commit();
    expect(keeper.urls()).toEqual(["https://three.example", "https://other.example"]);
    expect((await hello(three, "three.example")).status).toBe(200);
    expect((await hello(two, "two.example")).json.code).toBe("host_refused");
    expect((await hello(two, "other.example")).status).toBe(200);
    await expect(hello(one, "one.example")).rejects.toThrow();
    expect(audited.map((event) => `${event.type} ${"door" in event ? event.door : ""}`)).toEqual([
      "door_opened door-1",
      "door_opened door-2",
      "door_opened door-3",
      "door_closed door-1",
    ]);
    await gateway.close(0);
  });

  it("are as they were when one cannot be opened, or another part refuses", async () => {
    const { gateway, keeper, audited } = start();
    const [one, two] = [await freePort(), await freePort()];
    const blocker = createServer().listen(0, "127.0.0.1");
    await once(blocker, "listening");
    const address = blocker.address();
    const taken = typeof address === "object" && address ? address.port : 0;
    await keeper.openConfigured([door(one, "https://one.example")]);
    await expect(
      keeper.prepareConfigured([door(two, "https://two.example"), door(taken, "https://taken.example")]),
    ).rejects.toThrow("https://taken.example");
    await expect(hello(two, "two.example")).rejects.toThrow();
    await (await keeper.prepareConfigured([door(two, "https://two.example")])).abandon();
    await expect(hello(two, "two.example")).rejects.toThrow();
    expect((await hello(one, "one.example")).status).toBe(200);
    expect(audited.map(({ type }) => type)).toEqual(["door_opened"]);
    await gateway.close(0);
    blocker.close();
  });
});
