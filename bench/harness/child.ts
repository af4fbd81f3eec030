import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

// Servers, clients and the bench itself are processes of their own, so that none waits for another's event loop.

/** What a child can be asked for: one argument, one answer, both JSON. */
export type Calls = Readonly<Record<string, (argument: never) => unknown>>;

export interface Child<C extends Calls> {
  readonly pid: number;
  call<K extends keyof C & string>(
    name: K,
    argument: Parameters<C[K]>[0],
  ): Promise<Awaited<ReturnType<C[K]>>>;
  stop(): Promise<void>;
}

interface Question {
  readonly id: number;
  readonly name: string;
  readonly argument: unknown;
}
interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

const callTimeoutMs = 120_000;
const running = new Set<ChildProcess>();

/** Starts `bench/children/<name>.ts`. */
export function startChild<C extends Calls>(name: string, execArgv: readonly string[] = []): Child<C> {
  const path = fileURLToPath(new URL(`children/${name}.mjs`, import.meta.url));
  const child = fork(path, { execArgv: [...execArgv] });
  keepUntilExit(child);
  const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  let nextId = 0;
  child.on("message", (message) => {
    const { id, value, error } = message as Answer;
    const call = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) call?.resolve(value);
    else call?.reject(new Error(`${name}: ${error}`));
  });
  child.on("exit", (code, signal) => {
    for (const call of waiting.values()) call.reject(new Error(`${name} ended with ${code ?? signal}`));
  });
  return {
    pid: child.pid ?? 0,
    call: (method, argument) =>
      new Promise((resolve, reject) => {
        const id = nextId++;
        const timer = setTimeout(() => {
          waiting.delete(id);
          reject(new Error(`${name}.${method} took longer than ${callTimeoutMs} ms`));
        }, callTimeoutMs);
        const settled = () => clearTimeout(timer);
        waiting.set(id, {
          resolve(value) {
            settled();
            resolve(value as never);
          },
          reject(error) {
            settled();
            reject(error);
          },
        });
        child.send({ id, name: method, argument } satisfies Question);
      }),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, "exit");
      child.disconnect();
      const timer = setTimeout(() => child.kill("SIGKILL"), 3_000);
      await exited;
      clearTimeout(timer);
    },
  };
}

/** In a child: answers until the parent goes away, then ends. */
export function answerCalls(calls: Calls): void {
  process.on("message", async (message) => {
    const { id, name, argument } = message as Question;
    try {
      const value = await calls[name]?.(argument as never);
      process.send?.({ id, value } satisfies Answer);
    } catch (error) {
      process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  });
  process.on("disconnect", () => process.exit(0));
}

/** Processes that must not outlive the bench. */
export function keepUntilExit(child: ChildProcess): void {
  running.add(child);
  child.once("exit", () => running.delete(child));
}

process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});
