import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TSchema } from "typebox";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CommandType, commandSchemas } from "../../src/protocol/commands.ts";
import { ErrorSchema } from "../../src/protocol/replies.ts";
import { disposeDaemons, startTestDaemon, type TestDaemon } from "../helpers/daemon.ts";
import { problemWith, problemWithReply } from "../helpers/protocol-schemas.ts";
import type { Message } from "../helpers/socket.ts";

type Json = Readonly<Record<string, unknown>>;

const unknownId = "01a17453-0000-7000-8000-000000000000";
const long = "x".repeat(200_000);

/** What no field should mind, whatever it holds: each is sent in place of every field of every command. */
const anyValues: readonly (readonly [string, unknown])[] = [
  ["null", null],
  ["true", true],
  ["zero", 0],
  ["a negative number", -1],
  ["a fraction", 1.5],
  ["an immense number", 1e308],
  ["an integer that is not exact", 2 ** 53],
  ["an empty text", ""],
  ["a blank text", " \t\n"],
  ["a number as text", "7"],
  ["a NUL", "a\u0000b"],
  ["half a surrogate pair", "\ud800"],
  ["text that turns around", "\u202egnp.exe"],
  ["an escape sequence", "\u001b]0;title\u0007"],
  ["a path that climbs", "../../../../etc/passwd"],
  ["an absolute path", "/etc/passwd"],
  ["a name of every object", "__proto__"],
  ["another name of every object", "constructor"],
  ["an id of nothing", unknownId],
  ["an id in capitals", unknownId.toUpperCase()],
  ["a text of 65 characters", "x".repeat(65)],
  ["a text of 4,097 characters", `/${"x".repeat(4_096)}`],
  ["an immense text", long],
  ["an empty list", []],
  ["an immense list", Array.from({ length: 20_000 }, () => 0)],
  ["a list in lists", [[[["x"]]]]],
  ["an empty object", {}],
  ["an object of everything", { id: unknownId, name: long, path: "/", data: "x", type: "ping" }],
  ["a name and an id", { id: unknownId, name: "x" }],
  ["a list of wrong things", [{ name: 7, data: null, path: [] }]],
  ["a list of odd things", [{ name: "", mime: "", data: "%%%", path: "\u0000" }]],
];

let daemon: TestDaemon;
let folder: string;
let ids: { tab: string; agent: string; workspace: string; job: string };

const command = async (body: object): Promise<{ status: number; json: Message }> =>
  daemon.request("POST", "/api/command", { body });

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "sallyport-bad-input-")));
  daemon = await startTestDaemon({ cwd: folder });
  const { workspace } = (await daemon.request("GET", "/api/snapshot")).json;
  const tab = workspace.tabs[0].id;
  const { agent } = (await command({ type: "agent_start", tab })).json;
  const { job } = (await command({ type: "job_start", command: "true" })).json;
  ids = { workspace: workspace.id, tab, agent, job: job.id };
});
afterAll(async () => {
  await disposeDaemons();
  await rm(folder, { recursive: true, force: true });
});

/** A command of each type with every field that it may have, in which all but one will be left as it is. */
const wellFormed = (type: CommandType): Json => {
  const fields: Readonly<Record<string, unknown>> = {
    ...ids,
    request_id: unknownId,
    text: "true",
    decision: "deny",
    digest: "0",
    answers: ["x"],
    cancelled: false,
    label: "label",
    name: "name",
    runtime: "shell",
    cwd: folder,
    index: 0,
    command: "true",
    offset: 0,
    limit: 64,
    on: false,
    since: 0,
    instance: "x",
    request: false,
    queue: false,
    client_ref: "c1",
    mode: type === "keep_awake" ? "off" : "ask",
    images: [],
    attachments: [],
    thinking: null,
    session: ids.agent,
    title: "title",
    pinned: false,
    archived: false,
  };
  // These two exclude each other, or another field.
  const absent: Partial<Record<CommandType, readonly string[]>> = {
    prompt: ["tab"],
    job_output: ["tail"],
    agent_start: ["model"],
  };
  const own: Partial<Record<CommandType, Json>> = {
    model: { model: "x" },
    launch: { workspace: { id: ids.workspace } },
  };
  const { properties } = commandSchemas[type];
  const names = Object.keys(properties).filter((name) => name !== "type" && !absent[type]?.includes(name));
  return { type, ...Object.fromEntries(names.map((name) => [name, fields[name]])), ...own[type] };
};

/** What takes away that which the others need, last. */
const last: readonly CommandType[] = ["job_kill", "agent_close", "tab_close", "workspace_delete"];
const types = (Object.keys(commandSchemas) as CommandType[]).filter((type) => !last.includes(type));
const rows = [...types, ...last].flatMap((type) =>
  Object.keys(commandSchemas[type].properties)
    .filter((field) => field !== "type")
    .map((field) => [type, field] as const),
);

describe("every field of every command", () => {
  it.each(rows)("bears anything: %s.%s", async (type, field) => {
    const schema: TSchema = commandSchemas[type];
    const others = Object.entries(ids).filter(([name]) => name !== field);
    const values = [...anyValues, ...others.map(([name, id]) => [`the id of a ${name}`, id] as const)];
    const { [field]: _left, ...without } = wellFormed(type);
    for (const [what, body] of [
      ["nothing", without] as const,
      ...values.map(([name, value]) => [name, { ...without, [field]: value }] as const),
    ]) {
      const { status, json } = await command(body);
      const saw = `${type} with ${what} as ${field}: ${status} ${JSON.stringify(json)}`;
      if (problemWith(schema, body) !== null) {
        expect([json.code, json.field?.split(".")[0], status], saw).toEqual(["invalid_field", field, 422]);
      } else if (status < 300) {
        expect(problemWithReply(type, json), saw).toBeNull();
      } else {
        expect(status, saw).toBeLessThan(500);
        expect(json.code, saw).not.toBe("bad_request");
        if (["invalid_field", "not_found"].includes(json.code)) expect(json.field, saw).toBeTypeOf("string");
      }
      if (status >= 300) expect(problemWith(ErrorSchema, json), saw).toBeNull();
      // An answer never repeats what it was sent.
      if (status >= 300) expect(JSON.stringify(json).length, saw).toBeLessThan(2_000);
    }
  });

  it("leaves the daemon as it was", async () => {
    const { json } = await daemon.request("GET", "/api/daemon");
    expect(json).toMatchObject({ pid: daemon.pid, instance: daemon.instance });
    expect((await daemon.request("GET", "/api/snapshot")).status).toBe(200);
    expect(daemon.output()).not.toMatch(/TypeError|unexpected|internal/);
  });
});
