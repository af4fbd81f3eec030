/** What is known of one folder, or link, on the way to the home. */
export interface FolderFacts {
  readonly path: string;
  readonly uid: number;
  /** Permission bits, the sticky bit (01000) with them. */
  readonly mode: number;
  readonly kind: "folder" | "link" | "other";
}

const sticky = 0o1000;
const writableByOthers = 0o022;

/**
 * What is wrong with the home itself, with the command that mends it; null when nothing is. `uid` is this user's; null
 * where the system has none (Windows: the profile's ACL protects it).
 */
export function homeProblem(facts: FolderFacts, uid: number | null): string | null {
  if (facts.kind !== "folder") return `The home ${facts.path} is not a folder. Name another with --home.`;
  if (uid === null) return null;
  if (facts.uid !== uid)
    return `The home ${facts.path} belongs to another user (uid ${facts.uid}). Name another with --home, or run: chown -R "$(id -un)" ${facts.path}`;
  if ((facts.mode & writableByOthers) !== 0)
    return `The home ${facts.path} can be written by others (mode ${octal(facts.mode)}). Check what is in it, then run: chmod 700 ${facts.path}`;
  return null;
}

/**
 * What is wrong with a folder above the home, or a link on the way: whoever may write there may put another home in the
 * place of ours. Others may write only under the sticky bit, where they cannot rename what is not theirs.
 */
export function parentProblem(facts: FolderFacts, uid: number | null): string | null {
  if (uid === null) return null;
  if (facts.uid !== uid && facts.uid !== 0)
    return `${facts.path}, on the way to the home, belongs to another user (uid ${facts.uid}), who could replace the home. Name a folder below your own with --home.`;
  if (facts.kind === "link") return null;
  if ((facts.mode & writableByOthers) !== 0 && (facts.mode & sticky) === 0)
    return `${facts.path}, above the home, can be written by others (mode ${octal(facts.mode)}), who could replace the home. Run: chmod go-w ${facts.path}`;
  return null;
}

function octal(mode: number): string {
  return (mode & 0o7777).toString(8);
}
