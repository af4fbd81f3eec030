/** What `sallyport/client` offers, by the file of src/client or src/protocol that has it. Everything else is ours to change. */
export const clientExports = {
  "client/create-client.ts": ["createClient", "ClientOptions", "ConnectedClient"],
  "client/client.ts": ["StoppedError", "Client", "ClientStatus"],
  "client/what-next.ts": ["StopReason"],
  "client/prompt-outbox.ts": ["PromptInput", "PromptOptions", "PromptReceipt"],
  "client/connection.ts": ["JobMore"],
  "client/replies.ts": ["Ack", "CommandInput", "ReplyTo"],
  "client/apply-change.ts": ["applyChange", "needsSnapshot"],
  "client/follow-job.ts": ["followJob"],
  "client/pair.ts": ["hello", "pair", "Hello", "Paired", "PairRequest"],
  "client/base-address.ts": ["readBase", "codeOfLink", "BaseAddress", "ReadBase"],
  "client/answer-error.ts": ["AnswerError", "UnreachableError", "RawErrorBody"],
  "client/rest.ts": [
    "createRest",
    "Rest",
    "RestAnswer",
    "RestOptions",
    "SendHttp",
    "HttpRequest",
    "HttpAnswer",
  ],
  "client/web-transport.ts": ["sendWithFetch", "WebSocketConstructor", "WebSocketLike"],
  "protocol/close-codes.ts": ["closeCodes"],
  "protocol/changes.ts": ["Change", "Snapshot", "MissedChanges", "SnapshotPrincipal"],
  "protocol/events.ts": ["AgentEvent"],
  "protocol/scopes.ts": ["Scope"],
  "protocol/objects.ts": [
    "Agent",
    "Device",
    "DeviceKind",
    "Job",
    "JobOutput",
    "Mode",
    "PairedDevice",
    "PermissionRequest",
    "Question",
    "Remote",
    "Tab",
    "TabWithAgents",
    "Workspace",
    "WorkspaceRow",
  ],
};

/** Names of types begin with a capital like classes; these are the classes. */
const classes = new Set(["StoppedError", "AnswerError", "UnreachableError"]);

/** True for what exists when the program runs. */
export function isValue(name) {
  return classes.has(name) || /^[a-z]/.test(name);
}
