import { watch } from "node:fs";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { disposeDaemons, startTestDaemon } from "../helpers/daemon.ts";

afterEach(disposeDaemons);

/** What `read` gives once it gives something; it is asked again whenever the folder changes. */
async function onceReadable<T>(folder: string, read: () => Promise<T | null>): Promise<T> {
  for await (const _ of changesOf(folder)) {
    const value = await read().catch(() => null);
    if (value !== null) return value;
  }
  throw new Error("the folder is no longer watched");
}

async function* changesOf(folder: string): AsyncGenerator<void> {
  let wake: () => void = () => undefined;
  const watcher = watch(folder, () => wake());
  try {
    for (;;) {
      const changed = new Promise<void>((resolve) => {
        wake = resolve;
      });
      yield;
      await changed;
    }
  } finally {
    watcher.close();
  }
}

describe("daemon.json", () => {
  it("names the new master token in the end, also when it could not be written at the rotation", async () => {
    const daemon = await startTestDaemon();
    const path = join(daemon.home, "daemon.json");
    await rm(path);
    await mkdir(join(path, "in the way"), { recursive: true });
    await rm(join(daemon.home, "daemon.token"));
    expect((await daemon.request("GET", "/api/daemon")).status).toBe(401);
    await onceReadable(daemon.home, async () =>
      (await readFile(join(daemon.home, "daemon.log"), "utf8")).includes("could not be given the new token")
        ? true
        : null,
    );
    await rm(path, { recursive: true });
    const token = await onceReadable(
      daemon.home,
      async () => JSON.parse(await readFile(path, "utf8")).token as string,
    );
    expect(token).not.toBe(daemon.token);
    expect((await daemon.request("GET", "/api/daemon", { token })).status).toBe(200);
  });
});
