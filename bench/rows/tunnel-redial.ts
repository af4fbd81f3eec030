import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { requireProgram } from "../../test/helpers/require-program.ts";
import { startSshServer } from "../../test/helpers/system-servers.ts";
import type { ReturningCalls } from "../children/returning.ts";
import { startChild } from "../harness/child.ts";
import { freePort, startDaemon } from "../harness/daemon.ts";
import { residentBytes } from "../harness/process-stats.ts";
import { pairDevice } from "../harness/rest.ts";
import type { Row } from "../harness/row.ts";
import { startTunnel, tunnelUp } from "../harness/tunnel.ts";

const sockets = 1_000;
const runs = 3;

/** The `ssh` whose forwarding goes to this port: the daemon's own child. */
function sshProcess(remotePort: number): number {
  const table = execFileSync("ps", ["-eo", "pid=,args="], { encoding: "utf8" });
  const line = table
    .split("\n")
    .find((each) => /^\s*\d+ \S*ssh -N /.test(each) && each.includes(`:${remotePort}:`));
  if (line === undefined) throw new Error("no ssh runs for the tunnel");
  return Number.parseInt(line, 10);
}

export const tunnelRedial: Row = {
  figure: `${sockets} sockets through a real \`ssh -R\` whose ssh is killed: the last one is back after`,
  against: "",
  bound: { atMost: 20_000 },
  unit: " ms",
  async measure() {
    const sshd = requireProgram("sshd");
    if (sshd === null) throw new Error("needs sshd");
    const folder = await mkdtemp("/var/tmp/sallyport-bench-ssh-");
    const server = await startSshServer(sshd, folder);
    const { identity, knownHosts, user } = server.files;
    const daemon = await startDaemon(
      `[tunnel]\ninsecure_http = true\n[tunnel.ssh]\nidentity_file = "${identity}"\nknown_hosts = "${knownHosts}"\n`,
    );
    const phones = startChild<ReturningCalls>("returning");
    try {
      const remotePort = await freePort();
      await startTunnel(daemon, {
        provider: "ssh",
        host: `${user}@127.0.0.1`,
        port: server.port,
        remote_port: remotePort,
        url: `http://127.0.0.1:${remotePort}`,
      });
      const door = await tunnelUp(daemon);
      const { token } = await pairDevice(daemon, door);
      await phones.call("connect", { port: door.port, token, count: sockets });
      const samples: number[] = [];
      const beforeMb = residentBytes(daemon.pid) / 1e6;
      for (let run = 0; run < runs; run++) {
        const { closed, open } = await phones.call("state", undefined);
        if (open !== sockets) throw new Error(`${open} sockets are open`);
        const startedMs = performance.now();
        process.kill(sshProcess(remotePort), "SIGKILL");
        await phones.call("back", { closedBefore: closed });
        samples.push(performance.now() - startedMs);
      }
      const { open } = await phones.call("state", undefined);
      const grownMb = residentBytes(daemon.pid) / 1e6 - beforeMb;
      return {
        samples,
        detail: `${open} of ${sockets} are open again; the daemon grew by ${Math.round(grownMb)} MB over ${runs} times`,
      };
    } finally {
      await phones.stop();
      await daemon.stop();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    }
  },
};
