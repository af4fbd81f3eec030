import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { processesWith } from "../helpers/agent-lab.ts";
import { disposeDaemons, startTestDaemon, type TestDaemon } from "../helpers/daemon.ts";
import { request } from "../helpers/http.ts";
import { type Message, openSocket, type TestSocket } from "../helpers/socket.ts";

/** Of the library's other major version than the one that the daemon is made with; it knows no sessions to open again. */
const example = fileURLToPath(
  new URL("../../node_modules/acp-sdk-1/dist/examples/agent.js", import.meta.url),
);
const config = "/home/user/project/config.json";

describe("the example agent of the protocol's own library, in its older version", () => {
  let root: string;
  let daemon: TestDaemon;
  let phone: TestSocket;
  let token: string;
  let agent: string;

  beforeAll(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), "sallyport-example-")));
    await mkdir(join(root, "project"));
    daemon = await startTestDaemon({
      cwd: join(root, "project"),
      config: `[agents.example]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify([example])}\n`,
    });
    const code = await daemon.request("POST", "/api/pair/codes", { body: {} });
    const pair = { code: code.json.code, name: "Pixel phone", kind: "phone" };
    token = (await request(daemon.url, "POST", "/api/pair", { body: pair })).json.token as string;
    phone = await openSocket(daemon.url, { token });
    const tab = phone.messages[0].workspace.tabs[0].id;
    const started = await phone.command({ type: "agent_start", tab, runtime: "example" });
    expect(started).toMatchObject({ type: "ack" });
    agent = started.agent;
  }, 60_000);
  afterAll(async () => {
    await disposeDaemons();
    await rm(root, { recursive: true, force: true });
  });

  async function prompt(text: string) {
    const { turn } = await phone.command({ type: "prompt", agent, text });
    const started = ({ event }: Message) => event?.type === "turn_started" && event.turn === turn;
    await phone.waitFor(started);
    const from = phone.messages.findIndex(started);
    const events = (): readonly Message[] =>
      phone.messages.slice(from).flatMap(({ event }) => (event?.agent === agent ? [event] : []));
    const event = async (type: string): Promise<Message> => {
      await phone.waitFor(() => events().some((each) => each.type === type));
      return events().find((each) => each.type === type) as Message;
    };
    const all = (type: string) => events().filter((each) => each.type === type);
    return { event, all };
  }
  const answer = ({ request_id, digest }: Message, decision: string) =>
    phone.command({ type: "approve", request_id, decision, digest });
  const said = (messages: readonly Message[]) => messages.map(({ message }) => message.text).join("");

  it("reads, asks the phone for its edit, and is told what the phone allows", async () => {
    const turn = await prompt("improve it");
    const asked = await turn.event("permission_requested");
    expect(asked).toMatchObject({
      tool: "edit",
      input: { path: config, agent_title: "Modifying critical configuration file" },
      note: expect.stringContaining("a program of its own"),
    });
    expect(asked.summary).toContain(config);
    expect(await answer(asked, "allow")).toMatchObject({ type: "ack" });
    expect(await turn.event("turn_finished")).toMatchObject({ outcome: "done" });
    expect(said(turn.all("assistant_message"))).toContain("The changes have been applied.");
    expect(turn.all("tool_finished").map(({ tool, is_error }) => [tool, is_error])).toEqual([
      ["read", false],
      ["edit", false],
    ]);
  });

  it("skips what the phone denies, and goes on", async () => {
    const turn = await prompt("improve it again");
    await answer(await turn.event("permission_requested"), "deny");
    expect(await turn.event("turn_finished")).toMatchObject({ outcome: "done" });
    expect(said(turn.all("assistant_message"))).toContain("I'll skip the configuration update.");
    expect(turn.all("tool_finished").at(-1)).toMatchObject({ tool: "edit", is_error: true });
  });

  it("is cancelled while it asks, and its request cannot be answered any more", async () => {
    const turn = await prompt("improve it once more");
    const asked = await turn.event("permission_requested");
    expect(await phone.command({ type: "cancel", agent })).toMatchObject({ type: "ack" });
    expect(await turn.event("turn_finished")).toMatchObject({ outcome: "cancelled" });
    expect(await answer(asked, "allow")).toMatchObject({ type: "error", code: "conflict" });
  });

  it("begins anew after a kill -9 of the daemon, and says so: it keeps no sessions", async () => {
    const before = processesWith(example, "").filter((pid) => pid !== process.pid);
    await daemon.kill9();
    await expect
      .poll(() => processesWith(example, "").filter((pid) => before.includes(pid)), { timeout: 60_000 })
      .toEqual([]);
    daemon = await startTestDaemon({ home: daemon.home, cwd: join(root, "project") });
    phone = await openSocket(daemon.url, { token });
    const turn = await prompt("improve it after the night");
    await answer(await turn.event("permission_requested"), "allow");
    expect(await turn.event("turn_finished")).toMatchObject({ outcome: "done" });
    expect(turn.all("notice").map(({ message }) => message)).toEqual([
      expect.stringContaining("could not open its earlier session again"),
    ]);
  });
});
