import { describe, expect, it } from "vitest";
import { trackWork, workSettled } from "../../src/gateway/work-in-flight.ts";
import { deviceLease } from "./harness.ts";

/** A promise with its switch. */
function pending() {
  let finish: () => void = () => undefined;
  let fail: () => void = () => undefined;
  const work = new Promise<void>((resolve, reject) => {
    finish = resolve;
    fail = () => reject(new Error("failed"));
  });
  return { work, finish, fail };
}

describe("workSettled", () => {
  it("waits for all that runs for the lease, whether it succeeds or fails", async () => {
    const lease = deviceLease();
    const [one, two] = [pending(), pending()];
    expect(trackWork(lease, one.work)).toBe(one.work);
    trackWork(
      lease,
      two.work.catch(() => undefined),
    );
    let isSettled = false;
    const settled = workSettled(lease, 60_000).then(() => {
      isSettled = true;
    });
    one.finish();
    await new Promise((resolve) => setImmediate(resolve));
    expect(isSettled).toBe(false);
    two.fail();
    await settled;
  });

  it("waits for nobody else's, for nothing that is done, and not without end", async () => {
    const [lease, other] = [deviceLease(), deviceLease()];
    trackWork(other, pending().work);
    await workSettled(lease, 60_000);
    const done = pending();
    trackWork(lease, done.work);
    done.finish();
    await done.work;
    await workSettled(lease, 60_000);
    trackWork(lease, pending().work);
    await workSettled(lease, 1);
  });

  it("hands on what is no promise", () => {
    expect(trackWork(deviceLease(), "text")).toBe("text");
  });
});
