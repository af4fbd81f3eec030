/** The answer to a prompt. A rejected one carries the error it was rejected with, also when it is read again. */
export interface PromptReceipt {
  readonly request_id: string | null;
  readonly status: "accepted";
  readonly workspace: string;
  readonly tab: string;
  readonly agent: string;
  readonly turn: string;
}

export interface ReceiptView {
  readonly request_id: string;
  readonly status: "accepted" | "rejected" | "unknown";
  readonly agent: string | null;
  readonly turn: string | null;
  readonly message: string | null;
}
