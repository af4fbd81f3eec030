const hiddenCharacter =
  /⟨U\+[0-9A-F]{4,6}⟩|[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u{27e8}\u{2800}\u{3164}\u{ffa0}\u{115f}\u{1160}]|(?! )\p{Zs}/gu;

/**
 * Text that a person approves, whole, with every hidden character as `⟨U+202E⟩`. The page may not import the daemon's
 * leaves, so this is a copy of `visibleText`; a test holds the two together.
 */
export function visible(text: string): string {
  return text.replace(hiddenCharacter, (character) =>
    character === "\n" || character.startsWith("⟨U")
      ? character
      : `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );
}
