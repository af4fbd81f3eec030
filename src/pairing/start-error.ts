import { SallyportError } from "../errors.ts";
import type { SecretFileProblem } from "../lib/secret-file.ts";

const resetHint =
  "Or set the pairing files aside with: sallyport devices reset (every device must then pair again).";

const mend: Readonly<Record<Exclude<SecretFileProblem, "missing">, string>> = {
  link: "Put the file itself in its place.",
  not_a_file: "Put the file back in its place.",
  foreign_owner: "Give it back to the user who runs the daemon (chown).",
  readable_by_others: "Run: chmod 600",
  too_large: "Restore it from a backup.",
  unreadable: "Make it readable for the user who runs the daemon.",
};

/**
 * Why the daemon does not start: a file that decides who gets in cannot be trusted. It is never treated as empty and never
 * overwritten; the text names the file and the command that sets it aside.
 *
 * @param what what is wrong, for people, without any of the content
 */
export function damagedFile(
  path: string,
  what: string,
  nextStep = "Restore it from a backup.",
): SallyportError {
  return new SallyportError("internal", `${path}: ${what}. ${nextStep} ${resetHint}`);
}

/** The same for a file that `readSecretFile` refused. */
export function unusableFile(
  path: string,
  problem: Exclude<SecretFileProblem, "missing">,
  detail: string,
): SallyportError {
  const step = problem === "readable_by_others" ? `${mend[problem]} ${path}` : mend[problem];
  return damagedFile(path, detail, step);
}
