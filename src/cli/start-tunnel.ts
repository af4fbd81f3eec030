import { AnswerError } from "../client/answer-error.ts";
import type { Remote } from "../protocol/objects.ts";
import type { Call } from "./command.ts";
import type { DaemonLink } from "./find-daemon.ts";
import { inline } from "./text.ts";

/** Starts a tunnel where the daemon has any; what it is still waiting for is shown by `remote status`. */
export async function startTunnel(call: Call, link: DaemonLink, provider: string): Promise<void> {
  try {
    const { tunnel } = await link.rest.body<Remote>("POST", "/api/tunnel", { provider });
    await call.out.line(
      `Tunnel ${inline(provider)}: ${tunnel.state} ${inline(tunnel.url ?? tunnel.text ?? "")}`.trimEnd(),
    );
  } catch (error) {
    if (!(error instanceof AnswerError)) throw error;
    const isMissing = error.body.code === "not_found" || error.body.code === "not_supported";
    await call.out.note(
      isMissing
        ? `sallyport: this version starts no tunnel "${inline(provider)}". To let this network in: sallyport remote on`
        : `sallyport: ${inline(error.message)}`,
    );
  }
}
