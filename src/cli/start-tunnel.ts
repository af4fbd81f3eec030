import { AnswerError } from "../client/answer-error.ts";
import type { Remote } from "../protocol/objects.ts";
import { describeFailure } from "./cli-error.ts";
import type { Call } from "./command.ts";
import type { DaemonLink } from "./find-daemon.ts";
import { mintCode, showCode } from "./offers.ts";
import { inline } from "./text.ts";
import { tunnelLines } from "./tunnel-text.ts";
import { settled } from "./tunnel-wait.ts";

/**
 * Starts a tunnel of the configuration. What becomes of it is said when it is known, with a pairing code when it is up; who
 * calls does not wait for that.
 */
export async function startTunnel(call: Call, link: DaemonLink, provider: string): Promise<void> {
  try {
    const first = await link.rest.body<Remote>("POST", "/api/tunnel", { provider });
    follow(call, link, first).catch((error: unknown) =>
      call.out.note(`sallyport: ${describeFailure(error).message}`),
    );
  } catch (error) {
    if (!(error instanceof AnswerError)) throw error;
    await call.out.note(`sallyport: ${inline(error.message)}`);
  }
}

async function follow(call: Call, link: DaemonLink, first: Remote): Promise<void> {
  const remote = await settled(call, link, first);
  for (const line of tunnelLines(remote.tunnel)) await call.out.line(line);
  if (remote.tunnel.state === "up") await showCode(call.io, call.out, await mintCode(link), remote);
}
