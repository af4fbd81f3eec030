/**
 * The two spellings of the mew dialect: `camel` as its document writes tags (`NewSession`), `snake` as its daemons and
 * clients send them (`new_session`). Only the top-level `type` and `Provider.event.type` differ; every other value is
 * snake_case in both.
 */
export type MewSpelling = "camel" | "snake";

/** What is answered in before a client's first frame tells its spelling. */
export const firstSpelling: MewSpelling = "camel";

const snakeTag = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/;
const camelTag = /^[A-Z][A-Za-z0-9]*$/;
/** More characters than any tag has. */
const maxTagChars = 64;

/** The spelling that a tag is written in; null for what is no tag in either. */
export function spellingOf(tag: string): MewSpelling | null {
  if (tag.length > maxTagChars) return null;
  if (camelTag.test(tag)) return "camel";
  return snakeTag.test(tag) ? "snake" : null;
}

/** `SubmitPrompt` of `submit_prompt`. */
export function toCamel(snake: string): string {
  return snake.replace(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** `submit_prompt` of `SubmitPrompt`, and of itself. */
export function toSnake(tag: string): string {
  return tag.replace(/[A-Z]/g, (letter, at: number) => (at === 0 ? "" : "_") + letter.toLowerCase());
}

/** A tag in a spelling, of its snake_case form. */
export function spell(snake: string, spelling: MewSpelling): string {
  return spelling === "camel" ? toCamel(snake) : snake;
}
