import { Type } from "typebox";
import type { AuditSink } from "../../auth/audit.ts";
import type { Lease } from "../../auth/principal.ts";
import { routeScopes } from "../../auth/scope-table.ts";
import { changeSettings } from "../../config/change-settings.ts";
import type { Config } from "../../config/config.ts";
import { ConfigError } from "../../config/config-error.ts";
import { readConfigText } from "../../config/load-config.ts";
import { maxConfigBytes } from "../../config/parse-config.ts";
import { type SettingWriter, viewSettings } from "../../config/view-settings.ts";
import type { Library } from "../../engine/library.ts";
import { SallyportError } from "../../errors.ts";
import { writeFileAtomic } from "../../lib/atomic-file.ts";
import { createBoundedQueue, QueueFullError } from "../../lib/bounded-queue.ts";
import { assertLive, byOf } from "../../pairing/device-rules.ts";
import { type Settings, SettingsSchema } from "../../protocol/rest-objects.ts";
import { leaseOf } from "../lease-of.ts";
import { type Route, route } from "../route.ts";

export interface SettingsRouteOptions {
  readonly path: string;
  readonly userHome: string;
  /** The configuration that the daemon goes by now. */
  readonly running: () => Config;
  /** What is wrong with a rule, or null. */
  readonly ruleProblem: (rawRule: string) => string | null;
  /** Called when the file was written, before the answer. */
  readonly onWritten?: () => Promise<void> | void;
  readonly library: Pick<Library, "context">;
  readonly audit: AuditSink;
}

const maxChanges = 64;
const maxWaiting = 16;

/** `GET` and `PATCH /api/settings`: the file `config.toml`, setting by setting. */
export function settingsRoutes(options: SettingsRouteOptions): readonly Route[] {
  const { path, userHome, ruleProblem } = options;
  const queue = createBoundedQueue({ maxWaiting });

  async function readText(): Promise<string> {
    try {
      return (await readConfigText(path)) ?? "";
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      throw new SallyportError("not_supported", error.message, { cause: error });
    }
  }

  async function view(lease: Lease, tab: string | undefined): Promise<Settings> {
    const text = await readText();
    const running = options.running();
    const found = viewSettings(text, { path, userHome, ruleProblem, running, writer: writerOf(lease) });
    const { problem } = found;
    return {
      path,
      settings: [...found.settings],
      problem,
      context: tab === undefined ? null : await options.library.context(tab),
    };
  }

  async function write(lease: Lease, changes: Readonly<Record<string, unknown>>): Promise<void> {
    const before = await readText();
    const next = changeSettings(before, changes, { path, userHome, ruleProblem, writer: writerOf(lease) });
    if (Buffer.byteLength(next) > maxConfigBytes)
      throw new SallyportError("too_large", "config.toml would become too large.");
    if (next === before) return;
    // A person may have saved the file meanwhile.
    if ((await readText()) !== before)
      throw new SallyportError("conflict", "config.toml was changed by somebody else. Try again.", {
        reason: "changed",
      });
    assertLive(lease);
    await writeFileAtomic(path, next).catch((error: NodeJS.ErrnoException) => {
      throw new SallyportError(
        "disk_full",
        `config.toml could not be written (${error.code ?? "unknown"}).`,
        {
          cause: error,
        },
      );
    });
    options.audit({ type: "settings_changed", keys: Object.keys(changes), by: byOf(lease) });
    await options.onWritten?.();
  }

  return [
    route({
      method: "GET",
      path: "/api/settings",
      scope: routeScopes["GET /api/settings"],
      summary:
        "Every setting with its value and where it comes from; with tab= what the tab's next prompt goes into",
      query: Type.Object({ tab: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })) }),
      response: SettingsSchema,
      etag: true,
      handle: async ({ admission, query }) => ({ body: await view(leaseOf(admission), query.tab) }),
    }),
    route({
      method: "PATCH",
      path: "/api/settings",
      scope: routeScopes["PATCH /api/settings"],
      summary: "Changes settings in config.toml and leaves the rest of the file as it is; null takes one out",
      body: Type.Object({
        settings: Type.Record(Type.String({ maxLength: 200 }), Type.Unknown(), {
          minProperties: 1,
          maxProperties: maxChanges,
        }),
      }),
      response: SettingsSchema,
      handle: async ({ admission, body }) => {
        const lease = leaseOf(admission);
        await queue
          .run(() => write(lease, body.settings))
          .catch((error: unknown) => {
            if (!(error instanceof QueueFullError)) throw error;
            throw new SallyportError("overloaded", "Too many changes at once; try again.");
          });
        return { body: await view(lease, undefined) };
      },
    }),
  ];
}

function writerOf(lease: Lease): SettingWriter {
  if (lease.principal.kind === "master") return "master";
  return lease.scopes.has("admin") ? "admin" : "nobody";
}
