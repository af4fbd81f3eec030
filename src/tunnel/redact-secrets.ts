const mark = "[secret]";
/** A shorter part of a secret is nobody's key, and may be an ordinary word. */
const minPart = 6;

/**
 * Takes secrets out of lines, also what a line that was cut has of one at its begin or end.
 *
 * @param secrets of eight characters or more
 */
export function createRedactor(secrets: readonly string[]): (line: string) => string {
  return (line) => secrets.reduce((text, secret) => redactOne(text, secret), line);
}

function redactOne(line: string, secret: string): string {
  let text = line.replaceAll(secret, mark);
  if (!text.includes(secret.slice(0, minPart)) && !text.includes(secret.slice(-minPart))) return text;
  for (let length = secret.length - 1; length >= minPart; length--) {
    if (text.endsWith(secret.slice(0, length))) text = `${text.slice(0, -length)}${mark}`;
    if (text.startsWith(secret.slice(-length))) text = `${mark}${text.slice(length)}`;
  }
  return text;
}
