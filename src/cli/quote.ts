const plainWord = /^[A-Za-z0-9_@%+:,./-]+$/;
/** Words that /bin/sh would not take as a program's name when they stand first (POSIX.1-2024, 2.4). */
const reservedWords: ReadonlySet<string> = new Set(
  "if then else elif fi do done case esac while until for in function select time coproc".split(" "),
);

/**
 * Makes one line for `/bin/sh -c` of the words after `--`. A single word is a shell line already and stays as it is;
 * several are quoted, so that each arrives at the program exactly as it was given.
 */
export function shellLine(words: readonly string[]): string {
  const only = words[0];
  if (words.length === 1 && only !== undefined) return only;
  return words.map(quoteWord).join(" ");
}

/** One word in single quotes unless it is plain. POSIX.1-2024, 2.2.2. */
export function quoteWord(word: string): string {
  if (plainWord.test(word) && !reservedWords.has(word)) return word;
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
