import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Finding } from "../../src/cli/checks/finding.ts";
import { disposeDaemons, runProgram, startTestDaemon, type TestDaemon } from "../helpers/daemon.ts";
import { type Forwarder, startForwarder } from "../helpers/forwarder.ts";
import { freePort } from "../helpers/free-port.ts";
import { requireProgram } from "../helpers/require-program.ts";
import { type SystemServer, startNginx, startPlainNginx } from "../helpers/system-servers.ts";

const nginx = requireProgram("nginx");

let folder: string;
let daemon: TestDaemon;
const stops: (() => Promise<void>)[] = [];
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "sallyport-doctor-")));
});
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  await daemon?.stop();
  await disposeDaemons();
  await rm(folder, { recursive: true, force: true });
});
const until = <T extends SystemServer | Forwarder>(server: T): T => {
  stops.push(() => ("stop" in server ? server.stop() : server.close()));
  return server;
};

async function doors(): Promise<Finding> {
  const { stdout } = await runProgram(["doctor", "--json", "--home", daemon.home]);
  const { checks } = JSON.parse(stdout) as { checks: readonly Finding[] };
  return checks.find(({ check }) => check === "doors") ?? expect.fail(stdout);
}

describe.skipIf(nginx === null)("doctor, where nginx stands before the main door by mistake", () => {
  it.each([
    ["its defaults", ""],
    ["HTTP/1.1 to what is behind it", "proxy_http_version 1.1;"],
    ["the caller's own Host passed on", "proxy_http_version 1.1; proxy_set_header Host $host;"],
  ])("finds one with %s, and says where to point it", async (_, settings) => {
    daemon = await startTestDaemon({ cwd: folder });
    const web = until(await startPlainNginx(nginx ?? "", join(folder, "web"), daemon.url, settings));
    const found = await doors();
    expect(found).toMatchObject({ state: "fail", next: expect.stringContaining("[[door]]") });
    expect(found.message).toContain(`http://127.0.0.1:${web.port}`);
  });

  it("finds one with TLS", async () => {
    daemon = await startTestDaemon({ cwd: folder });
    const web = until(
      await startNginx(nginx ?? "", join(folder, "web"), {
        name: "sally.example",
        upstream: daemon.url,
        isBare: true,
      }),
    );
    expect((await doors()).message).toContain(`https://127.0.0.1:${web.port}`);
  });

  it("finds a raw forwarder, which no header tells of", async () => {
    daemon = await startTestDaemon({ cwd: folder });
    const forwarder = until(await startForwarder({ port: daemon.port }));
    expect((await doors()).message).toContain(`http://127.0.0.1:${forwarder.port}`);
  });

  it("has nothing against one at a door, nor against another daemon", async () => {
    const door = await freePort();
    daemon = await startTestDaemon({
      cwd: folder,
      config: `[[door]]\nlisten = ${door}\nurl = "https://sally.example"\n`,
    });
    const other = await startTestDaemon({ cwd: folder });
    const web = until(
      await startPlainNginx(
        nginx ?? "",
        join(folder, "web"),
        `http://127.0.0.1:${door}`,
        "proxy_http_version 1.1;",
      ),
    );
    const { message } = await doors();
    expect(message).not.toContain(`:${web.port}`);
    expect(message).not.toContain(`:${other.port}`);
    await other.stop();
  });
});
