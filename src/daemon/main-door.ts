import type { Door } from "../gateway/doors.ts";
import { mainDoorBinds } from "../gateway/doors-hosts.ts";
import type { Gateway } from "../gateway/gate-server.ts";
import { whoAnswers } from "./probe-port.ts";
import { StartupError } from "./startup-error.ts";

const answerTimeoutMs = 2_000;

/**
 * Opens the loopback side of the main door.
 *
 * @throws StartupError: `port_ours` when what is there knows our token, `port_taken` for anybody else. The other one is
 *   sent a challenge, never a token.
 */
export async function openMainDoor(
  gateway: Pick<Gateway, "openDoor">,
  port: number,
  masterToken: string,
): Promise<Door> {
  try {
    return await gateway.openDoor({
      kind: "main",
      name: "main",
      port,
      binds: mainDoorBinds("off", null),
      tls: null,
    });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EACCES")
      throw new StartupError(
        "port_taken",
        `Port ${port} may not be used by this user. Choose one above 1023: --port ${port + 7_000}`,
        { cause: error },
      );
    if (code !== "EADDRINUSE") throw error;
    if ((await whoAnswers(port, masterToken, answerTimeoutMs)) === "ours")
      throw new StartupError(
        "port_ours",
        `Port ${port} is taken by a daemon of ours that has the same token, but another home. Stop it, or choose another port: --port ${otherPort(port)}`,
        { url: `http://127.0.0.1:${port}`, cause: error },
      );
    throw new StartupError(
      "port_taken",
      `Port ${port} is taken by another program. Choose another: --port ${otherPort(port)}, or port = ${otherPort(port)} in config.toml`,
      { cause: error },
    );
  }
}

function otherPort(port: number): number {
  return port < 65_535 ? port + 1 : port - 1;
}
