import type { PromptReceipt, ReceiptView } from "../../../engine/receipts/prompt-receipt.ts";
import { SallyportError } from "../../../errors.ts";
import { readUuid } from "../../../protocol/mew/ids.ts";
import type { MewServerMessage } from "../../../protocol/mew/server-messages.ts";
import type { MewSession } from "../attachment.ts";
import type { MewContext, MewHandlers } from "../message-table.ts";
import { agentOf, attached, onTab } from "./find-session.ts";

type TurnMessages = Pick<
  MewHandlers,
  "prompt" | "submit_prompt" | "read_prompt_receipt" | "guide" | "cancel"
>;

interface Identities {
  readonly session_id: string;
  readonly request_id: string;
}

/** A receipt without a reason has no `message`; the dialect knows no null there. */
export function receiptMessage(
  { session_id, request_id }: Identities,
  receipt: Pick<ReceiptView, "status" | "message">,
): MewServerMessage {
  return {
    type: "prompt_receipt",
    session_id,
    request_id,
    status: receipt.status,
    ...(receipt.message === null ? {} : { message: receipt.message }),
  };
}

/** A session that has no title gets one after its turn, if the client that prompted wants that. */
function wantsTitle({ client }: MewContext, session: MewSession | null, { turn }: PromptReceipt): void {
  if (session && client.autoTitle && session.title === null) session.untitled = { turn, actor: client.actor };
}

const paths = (attachments: readonly { readonly path: string }[]) =>
  attachments.length === 0 ? {} : { attachments: attachments.map(({ path }) => ({ path })) };

/** Prompts the attached session, without a receipt. Throws `conflict` while it is busy. */
export async function promptAttached(
  context: MewContext,
  prompt: { readonly text: string; readonly attachments: readonly { readonly path: string }[] },
  queue: boolean,
): Promise<PromptReceipt> {
  const session = attached(context);
  const { client, engine } = context;
  await onTab(session.agent, context);
  try {
    const receipt = await engine.prompt(
      { type: "prompt", agent: session.agent, text: prompt.text, queue, ...paths(prompt.attachments) },
      client.actor,
    );
    wantsTitle(context, session, receipt);
    return receipt;
  } catch (error) {
    if (error instanceof SallyportError && error.reason === "busy" && !queue)
      throw new SallyportError(
        "conflict",
        "turn in progress: wait for its end, or reserve the next one with SubmitPrompt.",
        { reason: "busy" },
      );
    throw error;
  }
}

/** Prompting and cancelling. */
export const turnMessages: TurnMessages = {
  async prompt(message, context) {
    const session = attached(context);
    const { turn } = await promptAttached(context, message, false);
    context.hub.prompted(session, turn);
  },
  async guide(message, context) {
    attached(context);
    if (message.text.trim() === "") return;
    await promptAttached(context, { text: message.text, attachments: [] }, true);
  },
  async submit_prompt(message, context) {
    const { client, engine, hub } = context;
    const { text, request_id } = message;
    let agent: string;
    try {
      agent = agentOf(message.session_id);
      const known = await engine.sessions.receipt(agent, request_id);
      if (known.status !== "unknown") {
        client.send(receiptMessage(message, known));
        return;
      }
      await onTab(agent, context);
      const receipt = await engine.sessions.submit(
        { type: "prompt", agent, text, request_id, queue: true, ...paths(message.attachments) },
        client.actor,
      );
      wantsTitle(context, hub.find(agent), receipt);
      client.send(receiptMessage(message, { status: "accepted", message: null }));
    } catch (error) {
      if (!(error instanceof SallyportError) || error.code === "internal") throw error;
      client.send(receiptMessage(message, { status: "rejected", message: error.message }));
      return;
    }
    if (hub.find(agent)) return;
    const row = await engine.sessions.get(agent).catch(() => null);
    // It may have been deleted again.
    if (row) hub.watch(row);
  },
  async read_prompt_receipt(message, { client, engine }) {
    const agent = readUuid(message.session_id);
    const receipt =
      agent === null
        ? { status: "unknown" as const, message: null }
        : await engine.sessions.receipt(agent, message.request_id);
    client.send(receiptMessage(message, receipt));
  },
  async cancel(_message, context) {
    const { agent, tab } = attached(context);
    // Nothing runs of a session that is on no tab.
    if (tab !== null) await context.engine.cancel(agent, context.client.actor);
  },
};
