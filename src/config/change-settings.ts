import { parse } from "smol-toml";
import { Compile } from "typebox/compile";
import { SallyportError } from "../errors.ts";
import { ConfigError } from "./config-error.ts";
import { nearestKey } from "./nearest-key.ts";
import { type ParseConfigOptions, parseConfig } from "./parse-config.ts";
import { PatchError, patchToml, type SettingValue } from "./patch-toml.ts";
import { knownSettings, settingSchema } from "./setting-rows.ts";
import type { SettingWriter } from "./view-settings.ts";

export interface ChangeSettingsOptions extends ParseConfigOptions {
  readonly writer: SettingWriter;
}

/**
 * The text of `config.toml` with these settings changed, and nothing else; null takes a setting out. All or nothing: the
 * result is judged as the daemon judges the file at its start.
 *
 * @param changes values by dotted key, as they came
 * @throws SallyportError invalid_field (with the key), scope_missing (a program, a path or a part of the gate, and not the
 *   master token), not_supported (only a person can change this in the file)
 */
export function changeSettings(
  text: string,
  changes: Readonly<Record<string, unknown>>,
  options: ChangeSettingsOptions,
): string {
  assertReadable(text);
  let next = text;
  for (const [key, value] of Object.entries(changes)) {
    const path = key.split(".");
    assertMayWrite(key, path, options.writer);
    const checked = value === null ? null : checkValue(key, path, value);
    try {
      next = patchToml(next, path, checked);
    } catch (error) {
      if (!(error instanceof PatchError)) throw error;
      throw new SallyportError("not_supported", error.message, { field: key, cause: error });
    }
  }
  try {
    parseConfig(next, options);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new SallyportError("invalid_field", error.message, {
      field: error.key ?? Object.keys(changes)[0] ?? "settings",
      cause: error,
    });
  }
  return next;
}

function assertReadable(text: string): void {
  try {
    parse(text, { maxDepth: 32 });
  } catch (error) {
    throw new SallyportError(
      "not_supported",
      "config.toml is not valid TOML, so nothing is changed in it. Repair it first.",
      { cause: error },
    );
  }
}

function assertMayWrite(key: string, path: readonly string[], writer: SettingWriter): void {
  if (path[0] === "door")
    throw new SallyportError("not_supported", "Doors are written in config.toml by hand.", { field: key });
  if (path.includes("") || settingSchema(path) === null) {
    const near = nearestKey(
      key,
      knownSettings.map((setting) => setting.key),
    );
    throw new SallyportError(
      "invalid_field",
      `There is no such setting.${near === null ? "" : ` Did you mean ${near}?`}`,
      { field: key },
    );
  }
  if (writer === "master") return;
  const known = knownSettings.find((setting) => setting.key === key);
  if (writer === "admin" && known?.deviceMayWrite) return;
  throw new SallyportError(
    "scope_missing",
    "This setting names a program, a path or a part of the gate. Only the master token may write it: change it on the daemon's own machine.",
    { field: key },
  );
}

function checkValue(key: string, path: readonly string[], value: unknown): SettingValue {
  const schema = settingSchema(path);
  const texts = Array.isArray(value) ? value : [value];
  const isWritable = texts.every((each) => typeof each !== "string" || !/[\p{Cs}\0]/u.test(each));
  if (schema === null || !isWritable || !Compile(schema).Check(value))
    throw new SallyportError("invalid_field", "This value is not what the setting takes.", { field: key });
  // The schemas of single values allow texts, numbers, booleans and lists of texts only.
  return value as SettingValue;
}
