import { AnswerError } from "../../src/client/answer-error.ts";
import type { ConnectedClient } from "../../src/client/create-client.ts";
import type { Rest } from "../../src/client/rest.ts";

/**
 * The same client; but when the daemon says that this device may not do something, the whole state is asked for: its scopes
 * were changed from elsewhere, and what it may no longer do is to be offered no more.
 */
export function watchRefusals(client: ConnectedClient): ConnectedClient {
  const note = (error: unknown): never => {
    if (error instanceof AnswerError && error.body.code === "scope_missing") client.refresh();
    throw error;
  };
  const rest: Rest = {
    base: client.rest.base,
    request: (...request) => client.rest.request(...request).catch(note),
    body: <T>(...request: Parameters<Rest["body"]>) => client.rest.body<T>(...request).catch(note),
  };
  const command: ConnectedClient["command"] = (sent) => client.command(sent).catch(note);
  return Object.create(client, { rest: { value: rest }, command: { value: command } }) as ConnectedClient;
}
