import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadState } from "../../src/daemon/state-file.ts";

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sallyport-state-"));
  path = join(folder, "state.json");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const write = (text: string) => writeFile(path, text, { mode: 0o600 });

describe("loadState", () => {
  it("takes a missing file as a first start: exposure off", async () => {
    const { store, setAside } = await loadState(path, 1);
    expect(store.current.access).toBe("off");
    expect(setAside).toBeNull();
  });

  it("gives back what was updated, whoever asks next", async () => {
    const { store } = await loadState(path, 1);
    await store.update({ access: "on", port: 7701, door_ports: { ssh: 20_001 } });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await loadState(path, 1)).store.current).toEqual({
      version: 1,
      access: "on",
      port: 7701,
      host: null,
      door_ports: { ssh: 20_001 },
    });
  });

  it("writes updates in order, the last one last", async () => {
    const { store } = await loadState(path, 1);
    await Promise.all(Array.from({ length: 20 }, (_, port) => store.update({ port })));
    await store.settled();
    expect(JSON.parse(await readFile(path, "utf8")).port).toBe(19);
  });

  it.each([
    "",
    "{",
    "null",
    "[]",
    '{"version":2}',
    '{"version":1,"access":"everything","port":null,"host":null,"door_ports":{}}',
    '{"version":1,"access":"on","port":-1,"host":null,"door_ports":{}}',
    "\u0000".repeat(300),
    "x".repeat(300_000),
  ])("keeps the damaged file %# under another name and starts closed", async (text) => {
    await write(text);
    const { store, setAside } = await loadState(path, 77);
    expect(store.current.access).toBe("off");
    expect(setAside).toBe(`${path}.damaged-77`);
    expect(await readFile(`${path}.damaged-77`, "utf8")).toBe(text);
    expect(await readdir(folder)).toEqual(["state.json.damaged-77"]);
  });

  it("refuses a file that others could have written, or a link, and leaves it", async () => {
    await write('{"version":1,"access":"on","port":null,"host":null,"door_ports":{}}');
    await chmod(path, 0o666);
    await expect(loadState(path, 1)).rejects.toMatchObject({ problem: "disk" });
    await rm(path);
    await symlink("/etc/hostname", path);
    await expect(loadState(path, 1)).rejects.toThrow("symbolic link");
  });

  it("keeps in memory what the disk refused, and says so", async () => {
    const { store } = await loadState(join(folder, "missing", "state.json"), 1);
    await expect(store.update({ access: "on" })).rejects.toThrow("ENOENT");
    expect(store.current.access).toBe("on");
  });
});
