import { readdirSync, readFileSync, readlinkSync } from "node:fs";

export type Pipe = "input" | "output";

const lookMs = 2_000;
/** Processes that one look looks at; where there are more, one of them may hold it. */
const maxLooks = 500;
const numbers: Readonly<Record<Pipe, number>> = { input: 0, output: 1 };

/**
 * Tells once of a pipe that an agent has closed and lives on: no end comes of it, since its watchdog holds it too. Linux;
 * elsewhere nothing is told. Looks seldom, and believes what it has seen twice.
 *
 * @returns stops it
 */
export function watchPipes(watchdogPid: number, onClosed: (pipe: Pipe) => void): () => void {
  let seen: Pipe | null = null;
  const timer = setInterval(() => {
    const before = seen;
    seen = closedPipe(watchdogPid);
    if (seen === null || seen !== before) return;
    clearInterval(timer);
    onClosed(seen);
  }, lookMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** The pipe that neither the agent nor a process below it holds; null while nothing is certain. */
export function closedPipe(watchdogPid: number): Pipe | null {
  try {
    // The guard of the watchdog is its first child, and holds neither.
    const [, ...agents] = childrenOf(watchdogPid);
    if (agents.length === 0) return null;
    const isClosed = (pipe: Pipe): boolean => {
      const target = readlinkSync(`/proc/${watchdogPid}/fd/${numbers[pipe]}`);
      return !isHeld(agents, numbers[pipe], target);
    };
    if (isClosed("output")) return "output";
    return isClosed("input") ? "input" : null;
  } catch {
    // Another system, a process that ended meanwhile, or one that is not ours to look at.
    return null;
  }
}

/** True where one of these processes, or one below them, has `target` open, most likely under its `usual` number. */
function isHeld(pids: readonly number[], usual: number, target: string): boolean {
  const left = [...pids];
  for (let looks = 0; looks < maxLooks; looks += 1) {
    const pid = left.shift();
    if (pid === undefined) return false;
    if (linkOf(pid, String(usual)) === target) return true;
    if (readdirSync(`/proc/${pid}/fd`).some((fd) => linkOf(pid, fd) === target)) return true;
    left.push(...childrenOf(pid));
  }
  return true;
}

function linkOf(pid: number, fd: string): string | null {
  try {
    return readlinkSync(`/proc/${pid}/fd/${fd}`);
  } catch {
    // Closed since it was listed.
    return null;
  }
}

function childrenOf(pid: number): readonly number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "latin1")
      .split(" ")
      .flatMap((each) => (each.trim() === "" ? [] : [Number(each)])),
  );
}
