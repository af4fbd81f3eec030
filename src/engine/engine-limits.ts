/** Bounds of the engine's own. Names carry the unit. */
export const engineLimits = {
  workspaces: 200,
  tabsPerWorkspace: 200,
  agentsPerTab: 1_000,
  agents: 10_000,
  workspaceFileBytes: 8 * 1024 * 1024,
  trustedFolders: 10_000,
  /** Sessions that are pinned or archived: the state file holds them. */
  markedSessions: 10_000,
  /** Turns that run at the same time, over all agents. */
  runningTurns: 256,
  openRequests: 512,
  /** Text of all open requests together: a snapshot holds every one of them whole. */
  openRequestChars: 16 * 1024 * 1024,
  jobRequestsPerDevice: 16,
  closedRequestsRemembered: 2_000,
  sessionRulesPerAgent: 1_000,
  /** Linux takes no longer single argument (MAX_ARG_STRLEN, with its NUL), and a command line is one. */
  commandBytes: 128 * 1024 - 1,
  /** A prompt of the greatest size whose every character is escaped in JSON still fits. */
  transcriptLineBytes: 16 * 1024 * 1024,
  transcriptScanBytes: 64 * 1024 * 1024,
  sessionPageRecords: 1_000,
  sessionPageDefaultRecords: 200,
  sessionPageBytes: 4 * 1024 * 1024,
  /** Text so far of an open turn, for each of its parts. */
  streamingChars: 256 * 1024,
  streamingTools: 64,
  /** Deltas that wait for a slow disk; more are dropped, since they are live only. */
  announceBacklogBytes: 8 * 1024 * 1024,
  receipts: 10_000,
  receiptAgeMs: 30 * 24 * 60 * 60_000,
  receiptsInFlight: 1_000,
  receiptLineBytes: 16 * 1024,
  /** Twice the receipts with the longest lines: what is larger was not written by us, and would hold up the start. */
  receiptFileBytes: 512 * 1024 * 1024,
  questions: 16,
  questionChars: 16 * 1024,
  questionOptions: 64,
  /** Subagents that one turn may have at the same time, and how deep they may stand below each other. */
  subagentsPerTurn: 32,
  subagentDepth: 4,
  /** Ended subagents that stay on the tab beside those that run; the oldest go, their transcripts stay. */
  endedSubagentsPerAgent: 32,
  /** What a runtime is given of an agent's conversation. */
  historyRecords: 10_000,
  historyBytes: 8 * 1024 * 1024,
  summaryChars: 256 * 1024,
  /** Text of one attached file; more is cut. */
  attachedTextBytes: 256 * 1024,
  attachedFolderEntries: 1_000,
  /** All attachments of one prompt. */
  attachedBytes: 32 * 1024 * 1024,
  /** Attachments of all turns that run or wait: they are in memory until their turn ends. */
  heldAttachmentBytes: 256 * 1024 * 1024,
  /** Prompts whose attachments are being read at the same time. */
  attachingPrompts: 4,
  projectCommands: 100,
  projectCommandFileBytes: 64 * 1024,
  projectSiblings: 50,
  projectEntriesScanned: 2_000,
  projectReadMs: 2_000,
  trustFindings: 100,
  trustFileBytes: 256 * 1024,
  turnErrorChars: 4_000,
  /** How long `cancel` and the closing of an agent wait for the turn's end before they answer. */
  cancelWaitMs: 5_000,
} as const;
