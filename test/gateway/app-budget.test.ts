import type { Socket } from "node:net";
import fastify, { type FastifyRequest } from "fastify";
import { describe, expect, it } from "vitest";
import type { Lease } from "../../src/auth/principal.ts";
import { admit } from "../../src/gateway/admission.ts";
import { createChangeBudget } from "../../src/gateway/app-budget.ts";
import { deviceLease, masterLease } from "./harness.ts";

async function start() {
  const clock = { monotonicMs: 0, wallMs: 1_796_000_000_000 };
  const budget = await createChangeBudget(fastify(), () => clock.monotonicMs);
  /** Sends changes, each on a connection of its own unless one is named; yields how many were let through. */
  async function send(lease: Lease, count: number, socket?: Socket) {
    let passed = 0;
    for (let index = 0; index < count; index++) {
      const raw = { socket: socket ?? ({} as Socket) } as FastifyRequest["raw"];
      admit(raw, { requestClass: "local", door: "main", clientAddress: null, lease });
      const request = { raw, routeOptions: { config: {} } } as FastifyRequest;
      passed += await budget.spend(request, clock.wallMs).then(
        () => 1,
        (error: { code: string; retryAfterSeconds: number }) => {
          expect([error.code, error.retryAfterSeconds]).toEqual(["rate_limited", 1]);
          return 0;
        },
      );
    }
    return passed;
  }
  return { clock, send };
}

describe("createChangeBudget", () => {
  it("lets a connection send a hundred changes a second", async () => {
    const { clock, send } = await start();
    const lease = deviceLease();
    const socket = {} as Socket;
    expect(await send(lease, 150, socket)).toBe(100);
    clock.wallMs += 500;
    expect(await send(lease, 150, socket)).toBe(50);
    expect(await send(lease, 1)).toBe(1);
  });

  it("lets a principal send a thousand a second over all its connections, and others as much", async () => {
    const { clock, send } = await start();
    const lease = deviceLease();
    expect(await send(lease, 1_100)).toBe(1_000);
    expect(await send(deviceLease(), 10)).toBe(10);
    expect(await send(masterLease(), 10)).toBe(10);
    clock.monotonicMs += 1_000;
    expect(await send(lease, 10)).toBe(10);
  });

  it("does not keep a principal out when the clock on the wall is set back", async () => {
    const { clock, send } = await start();
    const lease = deviceLease();
    expect(await send(lease, 1_001)).toBe(1_000);
    clock.wallMs -= 3_600_000;
    clock.monotonicMs += 1_000;
    expect(await send(lease, 10)).toBe(10);
  });
});
