import { ChangeSchema, SnapshotSchema } from "../protocol/changes.ts";
import { commandSchemas } from "../protocol/commands.ts";
import { AgentEventSchema } from "../protocol/events.ts";
import {
  AgentSchema,
  AwakeSchema,
  DeviceSchema,
  JobOutputSchema,
  JobSchema,
  PairedDeviceSchema,
  PermissionRequestSchema,
  QuestionSchema,
  RemoteSchema,
  TabWithAgentsSchema,
  TunnelSchema,
  WorkspaceRowSchema,
  WorkspaceSchema,
} from "../protocol/objects.ts";
import { ErrorSchema } from "../protocol/replies.ts";
import {
  ContextReportSchema,
  FolderEntrySchema,
  FolderSchema,
  ModelSchema,
  SessionRowSchema,
  SettingSchema,
  ToolSchema,
  UsageSchema,
  UsageTotalsSchema,
} from "../protocol/rest-objects.ts";

/** Schemas that stand once in the description, under these names, wherever they are used. */
export const namedSchemas: ReadonlyMap<object, string> = new Map<object, string>([
  [ErrorSchema, "Error"],
  [AgentEventSchema, "AgentEvent"],
  [AgentSchema, "Agent"],
  [AwakeSchema, "Awake"],
  [ChangeSchema, "Change"],
  [ContextReportSchema, "ContextReport"],
  [DeviceSchema, "Device"],
  [FolderEntrySchema, "FolderEntry"],
  [FolderSchema, "Folder"],
  [JobOutputSchema, "JobOutput"],
  [JobSchema, "Job"],
  [ModelSchema, "Model"],
  [PairedDeviceSchema, "PairedDevice"],
  [PermissionRequestSchema, "PermissionRequest"],
  [QuestionSchema, "Question"],
  [RemoteSchema, "Remote"],
  [SessionRowSchema, "SessionRow"],
  [SettingSchema, "Setting"],
  [SnapshotSchema, "Snapshot"],
  [TabWithAgentsSchema, "Tab"],
  [ToolSchema, "Tool"],
  [TunnelSchema, "Tunnel"],
  [UsageSchema, "Usage"],
  [UsageTotalsSchema, "UsageTotals"],
  [WorkspaceRowSchema, "WorkspaceRow"],
  [WorkspaceSchema, "Workspace"],
  ...Object.entries(commandSchemas).map(([type, schema]) => [schema, `Command_${type}`] as const),
]);
