import { parse } from "smol-toml";
import type { Setting } from "../protocol/rest-objects.ts";
import type { Config } from "./config.ts";
import { ConfigError } from "./config-error.ts";
import { type ParseConfigOptions, parseConfig } from "./parse-config.ts";
import { changedSettings, settingEffects } from "./setting-effects.ts";
import {
  isSecretSetting,
  knownSettings,
  mayHoldSecret,
  otherSettings,
  settingSchema,
} from "./setting-rows.ts";

export type SettingWriter = "master" | "admin" | "nobody";

export interface ViewSettingsOptions extends ParseConfigOptions {
  /** The configuration that the daemon goes by. */
  readonly running: Config;
  /** Whose rows these are: what the caller may write, and whether command lines and addresses are shown that may hold a secret. */
  readonly writer: SettingWriter;
}

export interface SettingsView {
  readonly settings: readonly Setting[];
  readonly problem: string | null;
}

type Table = Readonly<Record<string, unknown>>;

/** Every setting with its value, where that comes from, and what it would be without the file. Secrets are only `present`. */
export function viewSettings(text: string, options: ViewSettingsOptions): SettingsView {
  const { running, writer } = options;
  const defaults = parseConfig("", options);
  let config: Config = running;
  let raw: Table = {};
  let problem: string | null = null;
  try {
    config = parseConfig(text, options);
    raw = parse(text);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problem = error.message;
  }

  const changed = new Set(changedSettings(running, config));
  const needsStart = (key: string): boolean =>
    changed.has(key) && settingEffects[key]?.counts === "after stop and start";
  const row = (key: string, path: readonly string[], fields: Partial<Setting>): Setting => {
    const isHidden = isSecretSetting(path) || (writer === "nobody" && mayHoldSecret(path));
    const written = valueAt(raw, path);
    return {
      key,
      default: null,
      source: written === undefined ? "default" : "file",
      description: null,
      schema: settingSchema(path) ?? {},
      present: written !== undefined,
      writable: writer === "master",
      restart_needed: needsStart(key),
      ...fields,
      secret: isHidden,
      value: isHidden ? null : (written ?? fields.value ?? null),
    };
  };

  const known = knownSettings.map((setting) => {
    const { key, description, read } = setting;
    return row(key, key.split("."), {
      description,
      value: read(config),
      default: read(defaults),
      writable: writer === "master" || (writer === "admin" && setting.deviceMayWrite),
    });
  });
  const others = otherSettings().map((key) => row(key, key.split("."), {}));
  const doors = row("door", ["door"], {
    description: "Doors for forwarders of your own. Written in the file only.",
    value: [],
    default: [],
    writable: false,
  });
  const dynamic = ["agents", "mcp_servers", "tunnel"]
    .flatMap((section) => [...pathsBelow(raw, section)])
    .map((path) => row(path.join("."), path, {}));
  return { settings: [...known, ...others, doors, ...dynamic], problem };
}

/** Paths of the values in the tables below a table (`[agents.NAME]`), with those of one more level (`env`). */
function* pathsBelow(raw: Table, section: string): Generator<readonly string[]> {
  for (const [name, table] of Object.entries(asTable(raw[section])))
    for (const [field, value] of Object.entries(asTable(table))) {
      if (!isTable(value)) yield [section, name, field];
      else for (const inner of Object.keys(value)) yield [section, name, field, inner];
    }
}

function asTable(value: unknown): Table {
  return isTable(value) ? value : {};
}

function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function valueAt(raw: Table, path: readonly string[]): unknown {
  let value: unknown = raw;
  for (const part of path) value = isTable(value) && Object.hasOwn(value, part) ? value[part] : undefined;
  return value;
}
