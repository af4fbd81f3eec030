import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openDaemonState } from "../../src/daemon/daemon-state.ts";
import { createChangeLog } from "../../src/engine/change-log.ts";
import { createEngine } from "../../src/engine/create-engine.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { createJobFiles } from "../../src/engine/jobs/job-files.ts";
import { jobFormat, parseJobRecord } from "../../src/engine/jobs/job-record.ts";
import { createJobStore } from "../../src/engine/jobs/job-store.ts";
import { parseWorkspace, workspaceFormat } from "../../src/engine/workspaces/workspace-doc.ts";
import { openStateFile, stateFormat } from "../../src/lib/state-file.ts";
import { deviceFormat, parseDeviceFile } from "../../src/pairing/device-file.ts";
import { loadDeviceFiles } from "../../src/pairing/load-device-files.ts";
import { local } from "../engine/support/engine-fixture.ts";
import { createFakeJobs } from "../engine/support/fake-jobs.ts";
import { readRepoFile } from "./sources.ts";

const workspaceId = "019a1f00-0000-7000-8000-000000000001";
const agentId = "019a1f00-0000-7000-8000-000000000003";
const deviceId = "019a1f00-0000-7000-8000-00000000000a";
const fixture = (version: number, name: string): string => readRepoFile(`test/fixtures/v${version}/${name}`);
const upTo = (version: number): number[] => Array.from({ length: version }, (_, index) => index + 1);

let home: string;
let engine: Engine | null = null;
const problems: string[] = [];
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "sallyport-formats-"));
  problems.length = 0;
});
afterEach(async () => {
  await engine?.close();
  engine = null;
  await rm(home, { recursive: true, force: true });
});

async function put(name: string, text: string): Promise<string> {
  const path = join(home, name);
  await mkdir(join(path, ".."), { recursive: true, mode: 0o700 });
  await writeFile(path, text, { mode: 0o600 });
  return path;
}

async function openEngine(): Promise<Engine> {
  engine = await createEngine({
    home,
    changeLog: createChangeLog({ instance: "test", maxCount: 100, maxBytes: 1_000_000 }),
    jobs: createFakeJobs(),
    judgeCall: () => ({ verdict: "allow", by: "test" }),
    rules: () => ({ allow: [], deny: [] }),
    state: await openStateFile({ path: join(home, "state.json") }),
    startFolder: tmpdir(),
    browseRoot: () => tmpdir(),
    now: () => 1_796_040_000_000,
    report: (problem) => problems.push(problem),
  });
  return engine;
}

const newer = (text: string): string => text.replace(/("version": ?)\d+/, "$199");

describe("a file that an old version wrote", () => {
  it.each(upTo(workspaceFormat.version))("workspaces/<id>.json of format %i is used", (version) => {
    const doc = parseWorkspace(fixture(version, "workspace.json"), workspaceId);
    expect(doc).toMatchObject({
      version: workspaceFormat.version,
      id: workspaceId,
      name: "main",
      tabs: [{ cwd: "/srv/api", mode: "edits", agents: [{ id: agentId, label: "cargo test" }] }],
    });
  });

  it.each(upTo(stateFormat.version))("state.json of format %i is used", async (version) => {
    const state = await openStateFile({ path: await put("state.json", fixture(version, "state.json")) });
    expect(state.get("trusted_folders")).toEqual(["/srv/api"]);
    expect(state.get("last_workspace")).toBe(workspaceId);
    expect(openDaemonState(state).current).toMatchObject({
      access: "tunnel",
      door_ports: { cloudflared: 29731 },
    });
  });

  it.each(upTo(deviceFormat.version))("devices.json of format %i is used", (version) => {
    expect(parseDeviceFile(fixture(version, "devices.json"))).toMatchObject({
      ok: true,
      devices: [{ id: deviceId, name: "Pixel phone", scopes: ["view", "drive", "approve", "admin"] }],
    });
  });

  it.each(upTo(jobFormat.version))("jobs/<id>.json of format %i is used", (version) => {
    expect(parseJobRecord("3fa9c210", fixture(version, "job.json"))).toMatchObject({
      command: "npm test",
      state: "exited",
      exit_code: 0,
    });
  });

  it("a whole home of format 1 comes back: tabs as saved sessions, receipts, trust", async () => {
    await put(`workspaces/${workspaceId}.json`, fixture(1, "workspace.json"));
    await put("state.json", fixture(1, "state.json"));
    await put("receipts.jsonl", fixture(1, "receipts.jsonl"));
    const opened = await openEngine();
    expect(opened.snapshot().workspace).toMatchObject({
      id: workspaceId,
      tabs: [{ trusted: true, loaded: false, mode: "edits", agents: [{ id: agentId, live: false }] }],
    });
    expect(opened.receipt("k1", local)).toMatchObject({ status: "accepted", agent: agentId });
    expect(problems).toEqual([]);
  });
});

describe("a file that a newer version wrote", () => {
  it("workspaces/<id>.json is left as it is, told of, and the others are used", async () => {
    const text = newer(fixture(1, "workspace.json"));
    const path = await put(`workspaces/${workspaceId}.json`, text);
    const opened = await openEngine();
    expect(problems.join()).toMatch(/newer version of Sallyport.*It was left as it is/);
    expect(opened.snapshot().workspace.id).not.toBe(workspaceId);
    expect(await readFile(path, "utf8")).toBe(text);
  });

  it("state.json stops the start with a sentence that names it, and stays", async () => {
    const text = newer(fixture(1, "state.json"));
    const path = await put("state.json", text);
    await expect(openStateFile({ path })).rejects.toThrow(
      /state\.json: a newer version of Sallyport wrote it/,
    );
    expect(await readFile(path, "utf8")).toBe(text);
  });

  it("receipts.jsonl stops the start with a sentence that names it, and stays", async () => {
    const text = `${fixture(1, "receipts.jsonl")}{"version":2,"what":"ever"}\n`;
    const path = await put("receipts.jsonl", text);
    await expect(openEngine()).rejects.toThrow(/receipts\.jsonl: a newer version of Sallyport wrote it/);
    expect(await readFile(path, "utf8")).toBe(text);
  });

  it("devices.json stops the start with a sentence that names it, and stays", async () => {
    const text = newer(fixture(1, "devices.json"));
    const path = await put("devices.json", text);
    const paths = {
      daemonToken: join(home, "daemon.token"),
      daemonKey: join(home, "daemon.key"),
      devices: path,
      audit: join(home, "audit.jsonl"),
    };
    await expect(loadDeviceFiles(paths, 0)).rejects.toThrow(/devices\.json: a newer version of Sallyport/);
    expect(await readFile(path, "utf8")).toBe(text);
    expect(await readdir(home)).toEqual(["devices.json"]);
  });

  it("jobs/<id>.json is skipped, told of, and its id is not given again", async () => {
    const text = newer(fixture(1, "job.json"));
    const path = await put("jobs/3fa9c210.json", text);
    const files = createJobFiles(join(home, "jobs"));
    const ids = ["3fa9c210", "3fa9c211"];
    const store = await createJobStore(
      { files, onWarning: (problem) => problems.push(problem), createId: () => ids.shift() ?? "" },
      () => undefined,
    );
    expect(store.get("3fa9c210")).toBeNull();
    expect(problems.join()).toMatch(/3fa9c210\.json was skipped: a newer version of Sallyport/);
    const reserved = await store.reserve();
    await reserved.log.close();
    expect(reserved.id).toBe("3fa9c211");
    expect(await readFile(path, "utf8")).toBe(text);
  });
});
