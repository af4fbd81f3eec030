export type JsonObject = Readonly<Record<string, unknown>>;

/** Turns a document of one version into the next. It sees what an old Sallyport wrote, checked by nobody yet. */
export type Migration = (old: JsonObject) => JsonObject;

/** The format of one kind of file. `migrations[0]` takes version 1 to 2; there is one fewer than there are versions. */
export interface FileFormat {
  readonly version: number;
  readonly migrations: readonly Migration[];
}

export type MigrateResult =
  | { readonly ok: true; readonly value: JsonObject }
  /** In a phrase, for "<file>: <problem>". */
  | { readonly ok: false; readonly problem: string };

/**
 * Brings a parsed file to the current version of its format. What a newer Sallyport wrote is refused, never guessed at:
 * who reads it must leave the file as it is. The result still has to be checked against the format's schema.
 */
export function migrate(raw: unknown, format: FileFormat): MigrateResult {
  const { version: current, migrations } = format;
  if (migrations.length !== current - 1) throw new TypeError("a format needs a migration from each version");
  if (typeof raw !== "object" || raw === null || Array.isArray(raw))
    return { ok: false, problem: "it is not a JSON object" };
  const { version } = raw as JsonObject;
  if (typeof version !== "number" || !Number.isInteger(version) || version < 1)
    return { ok: false, problem: "it has no known version" };
  if (version > current)
    return {
      ok: false,
      problem: `a newer version of Sallyport wrote it (format ${version}, this one knows ${current}): update Sallyport`,
    };
  try {
    const value = migrations
      .slice(version - 1)
      .reduce<JsonObject>(
        (old, step, index) => ({ ...step(old), version: version + index + 1 }),
        raw as JsonObject,
      );
    return { ok: true, value };
  } catch {
    // A migration stumbles over a damaged document only.
    return { ok: false, problem: `it cannot be brought from format ${version} to ${current}` };
  }
}

/** `migrate` for a file's text. */
export function migrateText(text: string, format: FileFormat): MigrateResult {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    return { ok: false, problem: "it is not JSON" };
  }
  return migrate(raw, format);
}
