import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { type Stand, startStand } from "./support/stand.ts";

let stand: Stand;

beforeAll(async () => {
  stand = await startStand();
}, 120_000);
afterEach(() => stand.closePages());
afterAll(() => stand?.dispose());

it("calls itself live no longer when the network is gone, and sends once what was typed without it", async () => {
  await stand.command({ type: "tab_create", cwd: stand.folder, name: "api" });
  const { agent } = await stand.command({ type: "agent_start", runtime: "shell" });
  const page = await stand.open(`/agent/${agent}`);
  await page.locator(".composer-text").waitFor();
  // The socket itself stays open here, as it does on a phone that has left its network.
  await page.context().setOffline(true);
  await page.getByText("Offline", { exact: true }).waitFor();
  await page.locator(".composer-text").fill("echo typed-without-a-network");
  await page.locator(".composer .primary").click();
  const kept = page.getByRole("list", { name: "Not sent yet" });
  await kept.getByText("Kept. It is sent once when the connection is back.").waitFor();
  await page.context().setOffline(false);
  await page.getByText("Live", { exact: true }).waitFor();
  await page.locator(".user-row").waitFor();
  await kept.waitFor({ state: "detached" });
  expect(await page.locator(".user-row").count()).toBe(1);
}, 90_000);
