import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { tidyHome } from "../../src/daemon/tidy-home.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "sallyport-tidy-"));
});
afterEach(() => rm(home, { recursive: true }));

it("removes what killed daemons left half-written, and nothing else", async () => {
  const kept = [
    ".config.toml.swp",
    ".daemon.lock.abcdefghijkl.tmp",
    "notes.tmp",
    "state.json",
    ".state.json.tmp",
  ];
  for (const name of [
    ...kept,
    ".state.json.Ab3_x-9z.tmp",
    ".devices.json.AAAAAAAA.tmp",
    ".receipts.jsonl.AAAAAAAA.tmp",
  ])
    await writeFile(join(home, name), "");
  await tidyHome(home);
  expect((await readdir(home)).sort()).toEqual(kept.sort());
});

it("removes them from workspaces and sessions too, where every kill could leave one", async () => {
  const id = "01a22ca5-e587-71f1-9156-396ca13f2e71";
  for (const [folder, name] of [
    ["workspaces", `${id}.json`],
    ["sessions", `${id}.next.json`],
  ] as const) {
    await mkdir(join(home, folder));
    for (const each of [name, `.${name}.2AoRoZWV.tmp`]) await writeFile(join(home, folder, each), "");
  }
  await tidyHome(home);
  expect(await readdir(join(home, "workspaces"))).toEqual([`${id}.json`]);
  expect(await readdir(join(home, "sessions"))).toEqual([`${id}.next.json`]);
});

it("leaves it to others to complain of a folder that is none", async () => {
  await writeFile(join(home, "sessions"), "");
  await expect(tidyHome(home)).resolves.toBeUndefined();
});
