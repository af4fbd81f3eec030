/** Bounds of what an agent may send, hold and take. Names carry the unit. */
export const acpLimits = {
  /** One message; what is longer is no message of a sane agent. */
  lineBytes: 16 * 1024 * 1024,
  /** Lines on stdout that are no messages: some programs greet there. Beyond this the agent is ended. */
  strayLines: 200,
  strayBytes: 256 * 1024,
  /** Kept of stderr, for the message of an agent that ended. */
  stderrBytes: 8 * 1024,
  /** Messages that wait inside; beyond this nothing more is read from the agent. */
  waitingMessages: 512,
  /** Requests of the agent without an answer; beyond this nothing more is read from it. */
  openRequests: 256,
  /** Of these requests together; what they are made into takes several times as much. */
  openRequestBytes: 24 * 1024 * 1024,
  /** Of the messages that wait inside. */
  waitingBytes: 24 * 1024 * 1024,
  /** Permissions, questions, terminals and writes of one agent that wait for a person at the same time. */
  waitingForPeople: 16,
  /** Bytes that wait for an agent that does not read. */
  unsentBytes: 64 * 1024 * 1024,
  initializeMs: 30_000,
  authenticateMs: 60_000,
  /** Opening a session starts MCP servers, and may load a long conversation. */
  sessionMs: 120_000,
  /** From `session/cancel` to the end of the process of an agent that does not obey. */
  cancelMs: 3_000,
  /** From the end of its input to SIGKILL, with room for a loaded machine. */
  stopMs: 8_000,
  /** Agents that run at the same time; the one that was idle longest is ended for another. */
  processes: 64,
  /** An idle one whose session can be opened again is ended after this time. */
  idleMs: 60 * 60_000,
  terminals: 64,
  runningTerminals: 16,
  terminalOutputBytes: 1024 * 1024,
  /** Files for `fs/*`. */
  fileBytes: 8 * 1024 * 1024,
  /** Text of one message; more begins another one. */
  messageChars: 200_000,
  /** All text and output of one turn. */
  turnChars: 64 * 1024 * 1024,
  toolCalls: 10_000,
  /** Held of the calls of a turn that have not ended. */
  openCallChars: 64 * 1024 * 1024,
  /** Allowed changes that were not written through us yet. */
  allowedChanges: 50,
  /** Of one call, what is kept and shown. */
  inputChars: 64 * 1024,
  outputChars: 256 * 1024,
  diffChars: 256 * 1024,
  titleChars: 2_000,
  todos: 200,
  models: 500,
  commands: 200,
  /** What is told of the conversation to an agent that cannot open its session again. */
  retoldChars: 60_000,
} as const;
