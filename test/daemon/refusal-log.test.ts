import { expect, it } from "vitest";
import { createRefusalLog } from "../../src/daemon/refusal-log.ts";
import type { RefusalEvent } from "../../src/gateway/gate-server.ts";
import { silentLog } from "../../src/lib/log.ts";

const event: RefusalEvent = {
  code: "unauthorized",
  step: "credentials",
  door: "main",
  requestClass: "local",
  clientAddress: "127.0.0.1",
  route: "GET /api/daemon",
};

it("a flood of refusals: two lines, the second with their count", () => {
  const lines: [object, string][] = [];
  const log = { ...silentLog, info: (fields: object, message: string) => void lines.push([fields, message]) };
  const refusals = createRefusalLog({ log, intervalMs: 60_000 });
  for (let i = 0; i < 10_000; i++) refusals.note({ ...event, clientAddress: `10.0.0.${i % 250}` });
  refusals.close();
  expect(lines.map(([, message]) => message)).toEqual(["refused", "refused again"]);
  expect(lines[1]?.[0]).toMatchObject({ code: "unauthorized", count: 9_999, clientAddress: null });
});

it("keeps a bounded number of kinds", () => {
  let count = 0;
  const log = { ...silentLog, info: () => void count++ };
  const refusals = createRefusalLog({ log, intervalMs: 60_000, maxKinds: 3 });
  for (let i = 0; i < 100; i++) refusals.note({ ...event, route: `r${i}` });
  refusals.close();
  expect(count).toBe(3);
});
