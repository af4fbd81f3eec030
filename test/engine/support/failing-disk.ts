import { existsSync, fstatSync, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { vi } from "vitest";

// A handle is needed to find the prototype that all handles share.
const sample = await open("/dev/null", "r");
const prototype = Object.getPrototypeOf(sample) as FileHandle;
await sample.close();

export interface DiskFault {
  readonly code: string;
  /** Bytes that still get through before the refusal. */
  readonly partialBytes?: number;
  readonly truncateFails?: boolean;
  /** Only handles for which this says so are refused; default: all. */
  readonly when?: (handle: FileHandle) => boolean;
}

function fault(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: the test's disk refuses, write`), { code, syscall: "write" });
}

/** Makes every write through a file handle fail as a full or broken disk does. Returns how to end that. */
export function failWrites(options: DiskFault): () => void {
  const realWrite = prototype.write;
  const applies = (handle: FileHandle): boolean => options.when?.(handle) ?? true;
  const spies = [
    vi.spyOn(prototype, "write").mockImplementation(async function (this: FileHandle, ...args: unknown[]) {
      if (!applies(this)) return Reflect.apply(realWrite, this, args);
      const [bytes, offset, , position] = args as [Buffer, number, number, number];
      if (options.partialBytes)
        await Reflect.apply(realWrite, this, [bytes, offset, options.partialBytes, position]);
      throw fault(options.code);
    } as never),
  ];
  const realWriteFile = prototype.writeFile;
  spies.push(
    vi.spyOn(prototype, "writeFile").mockImplementation(async function (
      this: FileHandle,
      ...args: unknown[]
    ) {
      if (!applies(this)) return Reflect.apply(realWriteFile, this, args);
      throw fault(options.code);
    } as never) as never,
  );
  if (options.truncateFails)
    spies.push(vi.spyOn(prototype, "truncate").mockRejectedValue(fault(options.code)) as never);
  return () => {
    for (const spy of spies) spy.mockRestore();
  };
}

/** True for handles of the file that has this name now. */
export function ofFile(path: string): (handle: FileHandle) => boolean {
  return (handle) => existsSync(path) && fstatSync(handle.fd).ino === statSync(path).ino;
}
