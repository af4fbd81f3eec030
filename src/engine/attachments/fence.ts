/**
 * Puts text into a fenced block (CommonMark, "Fenced code blocks") whose fence is longer than any in the text, so that
 * nothing in it can end the block.
 *
 * @param title one line, with nothing hidden in it
 */
export function fenced(title: string, text: string): string {
  const longest = (text.match(/`{3,}/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const fence = "`".repeat(longest + 1);
  return `${title}\n${fence}\n${text}${text.endsWith("\n") || text === "" ? "" : "\n"}${fence}`;
}
