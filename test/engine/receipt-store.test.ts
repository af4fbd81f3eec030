import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openReceiptStore } from "../../src/engine/receipts/receipt-store.ts";
import { SallyportError } from "../../src/errors.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sallyport-receipts-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

const place = { workspace: "w", tab: "t", agent: "a", turn: "u" };

describe("openReceiptStore", () => {
  it("writes its file anew while it is in use and loses no receipt and no open intent", async () => {
    const path = join(folder, "receipts.jsonl");
    const problems: string[] = [];
    const open = () =>
      openReceiptStore({
        path,
        now: () => 1_000,
        report: (problem) => problems.push(problem),
        wasAccepted: async ({ agent }) => agent === "open",
      });
    const store = await open();
    let accept: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => {
      accept = resolve;
    });
    const longAttempt = store.once("local", "long", async (ticket) => {
      await ticket.intend({ ...place, agent: "open" }, 1, () => undefined);
      await opened;
      return { request_id: "long", status: "accepted", ...place };
    });
    let lines = 0;
    for (let round = 0; round < 8; round += 1) {
      await Promise.allSettled(
        Array.from({ length: 500 }, (_, n) =>
          store.once("local", `k${round}-${n}`, async (ticket) => {
            await ticket.intend(place, 1, () => undefined);
            if (n > 0) throw new SallyportError("disk_full", "no");
            return { request_id: `k${round}-${n}`, status: "accepted", ...place };
          }),
        ),
      );
      lines += 1_000;
    }
    await store.once("local", "last", async () => ({ request_id: "last", status: "accepted", ...place }));
    const text = await readFile(path, "utf8");
    expect(text.split("\n").length).toBeLessThan(lines);
    // As after a crash in this moment: the open intent is still there, and is looked up.
    const other = await open();
    expect(other.view("local", "long")).toMatchObject({ status: "accepted", agent: "open" });
    await other.close();
    accept();
    await longAttempt;
    await store.close();
    const again = await open();
    for (const id of ["long", "last", "k0-0", "k7-0"])
      expect(again.view("local", id).status).toBe("accepted");
    expect(again.view("local", "k0-1").status).toBe("unknown");
    await again.close();
    expect(problems).toEqual([]);
  });
});
