/**
 * Everything that does not show as itself: controls, bidi and other format characters, separators other than the
 * space, lone surrogates, unassigned and private characters, fillers and selectors that take no room, and our own
 * opening mark, so that a command cannot imitate the marks.
 */
const invisible =
  /\p{C}|\p{Zl}|\p{Zp}|(?! )\p{Zs}|\p{Variation_Selector}|\u27e8|\u034f|[\u115f\u1160\u2800\u3164\uffa0]|\u17b4|\u17b5/gu;
const keepsLayout = /[\n\t]/;
const labelJunk = /(?!\u200d)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * Writes what a person could not see as `⟨U+202E⟩`, whole and reversible. With `keepLayout` newlines and tabs stay: for
 * text that is shown in lines of its own; without, the result is one line in which nothing hides.
 */
export function makeVisible(text: string, options: { readonly keepLayout: boolean }): string {
  return text.replace(invisible, (character) => {
    if (options.keepLayout && keepsLayout.test(character)) return character;
    const code = character.codePointAt(0) ?? 0;
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}

/** `makeVisible` with layout for every string inside a JSON value; keys and shape stay. Depth is the caller's bound. */
export function makeValueVisible(value: unknown): unknown {
  if (typeof value === "string") return makeVisible(value, { keepLayout: true });
  if (Array.isArray(value)) return value.map(makeValueVisible);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      makeVisible(key, { keepLayout: false }),
      makeValueVisible(inner),
    ]),
  );
}

/** A name or label fit for a list: without control and bidi characters, in one line, cut to `maxChars`. May be empty. */
export function cleanLabel(raw: string, maxChars: number): string {
  const spaced = raw.replace(/\s+/gu, " ").replace(labelJunk, "").trim();
  const characters = Array.from(spaced);
  return characters.length <= maxChars ? spaced : `${characters.slice(0, maxChars - 1).join("")}…`;
}
