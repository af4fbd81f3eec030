import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tidyHome } from "../../src/daemon/tidy-home.ts";

it("removes what killed daemons left half-written, and nothing else", async () => {
  const home = await mkdtemp(join(tmpdir(), "sallyport-tidy-"));
  const kept = [
    ".config.toml.swp",
    ".daemon.lock.abcdefghijkl.tmp",
    "notes.tmp",
    "state.json",
    ".state.json.tmp",
  ];
  for (const name of [...kept, ".state.json.Ab3_x-9z.tmp", ".devices.json.AAAAAAAA.tmp"])
    await writeFile(join(home, name), "");
  await tidyHome(home);
  expect((await readdir(home)).sort()).toEqual(kept.sort());
  await rm(home, { recursive: true });
});
