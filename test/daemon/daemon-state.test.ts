import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openDaemonState } from "../../src/daemon/daemon-state.ts";
import { openStateFile } from "../../src/lib/state-file.ts";

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sallyport-state-"));
  path = join(folder, "state.json");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const open = async () => openDaemonState(await openStateFile({ path }));

describe("openDaemonState", () => {
  it("takes a missing file as a first start: exposure off", async () => {
    expect((await open()).current).toEqual({ access: "off", host: null, door_ports: {} });
  });

  it("gives back what was updated, whoever asks next, beside what others keep in the file", async () => {
    const file = await openStateFile({ path });
    await file.update("trust", () => ["/srv"]);
    await openDaemonState(file).update({ access: "on", host: "192.168.1.2", door_ports: { ssh: 20_001 } });
    const again = await openStateFile({ path });
    expect(openDaemonState(again).current).toEqual({
      access: "on",
      host: "192.168.1.2",
      door_ports: { ssh: 20_001 },
    });
    expect(again.get("trust")).toEqual(["/srv"]);
  });

  it("writes updates in order, the last one last", async () => {
    const state = await open();
    await Promise.all(Array.from({ length: 20 }, (_, port) => state.update({ door_ports: { ssh: port } })));
    expect(JSON.parse(await readFile(path, "utf8")).daemon.door_ports).toEqual({ ssh: 19 });
  });

  it.each([
    '{"version":1,"daemon":null}',
    '{"version":1,"daemon":{}}',
    '{"version":1,"daemon":{"access":"everything","host":null,"door_ports":{}}}',
    '{"version":1,"daemon":{"access":"on","host":null,"door_ports":{"ssh":-1}}}',
    "{",
  ])("refuses the damaged file %j, and leaves it", async (text) => {
    await writeFile(path, text, { mode: 0o600 });
    await expect(open()).rejects.toThrow(path);
    expect(await readFile(path, "utf8")).toBe(text);
  });

  it("keeps in memory what the disk refused, and says so", async () => {
    const file = await openStateFile({ path: join(folder, "missing", "state.json") });
    const state = openDaemonState(file);
    await expect(state.update({ access: "on" })).rejects.toThrow("ENOENT");
    expect(state.current.access).toBe("on");
  });
});
