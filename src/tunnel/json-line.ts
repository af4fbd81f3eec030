const maxFields = 32;

/** The texts and numbers of a line that is one JSON object, as loggers write them; null for any other line. */
export function jsonFields(line: string): ReadonlyMap<string, string> | null {
  const text = line.trim();
  if (!text.startsWith("{") || !text.endsWith("}")) return null;
  try {
    const raw: unknown = JSON.parse(text);
    if (typeof raw !== "object" || raw === null) return null;
    return new Map(
      Object.entries(raw)
        .slice(0, maxFields)
        .flatMap(([name, value]) =>
          typeof value === "string" || typeof value === "number" ? [[name, String(value)]] : [],
        ),
    );
  } catch {
    // Begins and ends like one, and is none.
    return null;
  }
}

/** What a line says to a person: of a JSON object its message and error, else the line itself. */
export function readableLine(line: string): string {
  const fields = jsonFields(line);
  const said = [fields?.get("message") ?? fields?.get("msg"), fields?.get("error") ?? fields?.get("err")];
  const text = said.filter((part) => part !== undefined && part !== "").join(": ");
  return text === "" ? line : text;
}
