/** A prompt that begins with `/name`. */
export interface SlashLine {
  readonly name: string;
  /** What stands behind the name, without the space around it. */
  readonly args: string;
}

const slashPattern = /^\/([A-Za-z0-9][A-Za-z0-9_-]{0,63}(?::[A-Za-z0-9][A-Za-z0-9_-]{0,63}){0,3})(?=\s|$)/;

/** Names that a command may have: words joined by colons, which are the folders that its file lies in. */
export function isCommandName(name: string): boolean {
  return slashPattern.exec(`/${name}`)?.[1] === name;
}

/** Reads `/name args`; null for any other text, a path like `/usr/bin/env` among them. */
export function readSlashLine(text: string): SlashLine | null {
  const name = slashPattern.exec(text)?.[1];
  return name === undefined ? null : { name, args: text.slice(name.length + 1).trim() };
}
