import { randomInt } from "node:crypto";
import { readFile } from "node:fs/promises";

export interface PortRange {
  readonly first: number;
  readonly last: number;
}

const preferred: PortRange = { first: 20_000, last: 29_999 };
/** IANA's dynamic range, which macOS and Windows use, and Linux's default together. */
const usualEphemeral: PortRange = { first: 32_768, last: 65_535 };

/**
 * The ports that the system hands out to outgoing connections. A door in there could find its port taken after a restart
 * by some program that merely connected somewhere, and a tunnel would then lead to it.
 */
export async function ephemeralRange(): Promise<PortRange> {
  if (process.platform !== "linux") return usualEphemeral;
  const text = await readFile("/proc/sys/net/ipv4/ip_local_port_range", "utf8").catch(() => "");
  const [first, last] = text.trim().split(/\s+/).map(Number);
  return first && last && first <= last ? { first, last } : usualEphemeral;
}

/**
 * Candidates for the port of a provider's door, best first: the one it had, then free-looking ones outside the ephemeral
 * range. `taken` are those of other doors.
 *
 * @param pick a number from 0 to below `n`
 */
export function doorPortCandidates(
  options: {
    readonly kept: number | undefined;
    readonly taken: ReadonlySet<number>;
    readonly ephemeral: PortRange;
    readonly count: number;
  },
  pick: (n: number) => number = randomInt,
): readonly number[] {
  const found = new Set<number>();
  const usable = (port: number) =>
    !options.taken.has(port) && (port < options.ephemeral.first || port > options.ephemeral.last);
  if (options.kept !== undefined && options.kept > 0 && !options.taken.has(options.kept))
    found.add(options.kept);
  const range = [preferred, { first: 10_000, last: 19_999 }, { first: 1_024, last: 9_999 }].find(
    ({ first, last }) => last < options.ephemeral.first || first > options.ephemeral.last,
  ) ?? { first: 1_024, last: 65_535 };
  const size = range.last - range.first + 1;
  for (let tries = 0; found.size < options.count && tries < options.count * 20; tries++) {
    const port = range.first + pick(size);
    if (usable(port)) found.add(port);
  }
  return [...found];
}
