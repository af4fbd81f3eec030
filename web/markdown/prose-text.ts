/** Controls but for line feed and tab, and what turns the direction of the text around it. */
const deceptive = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Text of an agent as it is shown: what could make it read as another text is written out as `⟨U+202E⟩`. Joiners stay,
 * which letters and emoji need.
 */
export function proseText(text: string): string {
  return text.replace(
    deceptive,
    (character) => `⟨U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );
}
