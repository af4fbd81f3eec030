/** Names of variables whose values are secrets. */
const secretName = /KEY|TOKEN|SECRET|PASSW|CREDENTIAL/i;
const minChars = 8;

/** Replaces secrets in what an agent says: a key that a server quotes in its refusal must be in no event and no log. */
export type Redact = (text: string) => string;

/** Secrets are the values of variables that are called like one, and those that are known to be. */
export function createRedact(
  environment: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): Redact {
  const secrets = [
    ...new Set([
      ...known.filter(({ length }) => length >= minChars),
      ...Object.entries(environment).flatMap(([name, value]) =>
        value !== undefined && value.length >= minChars && secretName.test(name) && !isNoSecret(value)
          ? [value]
          : [],
      ),
    ]),
  ].sort((one, other) => other.length - one.length);
  if (secrets.length === 0) return (text) => text;
  return (text) => {
    let kept = text;
    for (const secret of secrets) if (kept.includes(secret)) kept = kept.replaceAll(secret, "[secret]");
    return kept;
  };
}

/** A path says where something is, and a number is a bound (`MAX_TOKENS`). */
function isNoSecret(value: string): boolean {
  return value.startsWith("/") || /^\d+$/.test(value);
}
