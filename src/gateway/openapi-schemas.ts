import { Type } from "typebox";
import { errorStatus } from "../errors.ts";
import { commandSchemas } from "../protocol/commands.ts";
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
import { SnapshotSchema } from "../protocol/rest-answers.ts";
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

/** The one shape of every refusal. */
export const ErrorSchema = Type.Object({
  type: Type.Literal("error"),
  code: Type.Union(Object.keys(errorStatus).map((code) => Type.Literal(code))),
  message: Type.String(),
  reason: Type.Optional(Type.String()),
  field: Type.Optional(Type.String()),
  retry_after: Type.Optional(Type.Integer()),
  client_ref: Type.Optional(Type.String()),
});

/** Schemas that stand once in the description, under these names, wherever they are used. */
export const namedSchemas: ReadonlyMap<object, string> = new Map<object, string>([
  [ErrorSchema, "Error"],
  [AgentSchema, "Agent"],
  [AwakeSchema, "Awake"],
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
