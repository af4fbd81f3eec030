import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { disposeDaemons, startTestDaemon, type TestDaemon } from "../helpers/daemon.ts";
import { freePort } from "../helpers/free-port.ts";
import { type MewSocket, openMew } from "../helpers/mew-socket.ts";
import { type Message, openSocket } from "../helpers/socket.ts";

const slowMs = 120_000;
const folders: string[] = [];
let daemon: TestDaemon;
afterEach(() => daemon.kill9());
afterAll(async () => {
  await disposeDaemons();
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

async function temporary(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "sallyport-mew-")));
  folders.push(folder);
  return folder;
}

const mew = (path = "/mew", token: string | null = daemon.token) => openMew(daemon.url, { token, path });
const native = () => openSocket(daemon.url, { token: daemon.token });
const newSession = async (socket: MewSocket, cwd?: string): Promise<string> => {
  const ready = await socket.ask(
    { type: "NewSession", ...(cwd === undefined ? {} : { cwd }) },
    "SessionReady",
    "Error",
  );
  expect(ready.message).toBeUndefined();
  return ready.session_id;
};
const attach = (socket: MewSocket, session_id: string): Promise<Message> =>
  socket.ask({ type: "AttachSession", session_id }, "SessionHistory");
const turnEnded = (message: Message): boolean =>
  message.event?.type === "MessageEnd" && message.event.finish === "stop";
const prompts = (history: Message): string[] =>
  history.messages
    .filter((message: Message) => message.role === "user")
    .map((message: Message) => message.parts[0].text);

describe("a mew client and a native client", () => {
  it(
    "share one session through prompt, permission, job and cancel, answered by whoever is first",
    async () => {
      const cwd = await temporary();
      daemon = await startTestDaemon({ cwd });
      const [one, two] = [await mew("/"), await native()];
      const session = await newSession(one, cwd);

      // Prompted by the one, allowed by the other.
      one.send({ type: "Prompt", text: "echo from mew", attachments: [] });
      const asked = await two.waitFor((message) => message.event?.type === "permission_requested");
      const { agent, request_id } = asked.event;
      expect(await two.command({ type: "approve", request_id, decision: "allow" })).toMatchObject({
        type: "ack",
      });
      await one.waitFor((message) => message.type === "RequestResolved");
      await one.waitFor((message) => message.type === "ToolProgress" && message.chunk === "from mew\n");
      await one.waitFor(turnEnded);
      await two.waitFor((message) => message.event?.type === "turn_finished");

      // Prompted by the other, allowed by the one; the other comes too late.
      const prompted = await two.command({ type: "prompt", agent, text: "echo from native; sleep 60 &" });
      const mine = await one.waitFor(
        (message) => message.type === "PermissionRequest" && message.input.command.includes("native"),
      );
      one.send({ type: "PermissionResponse", request_id: mine.request_id, decision: "allow_once" });
      const update = await one.waitFor((message) => message.type === "JobUpdate");
      await two.waitFor(
        (message) => message.event?.type === "turn_finished" && message.event.turn === prompted.turn,
      );
      const request = two.messages.find(
        (message) =>
          message.event?.type === "permission_requested" && message.event.summary.includes("native"),
      ).event;
      expect(
        await two.command({ type: "approve", request_id: request.request_id, decision: "deny" }),
      ).toMatchObject({
        code: "conflict",
        reason: "already_resolved",
      });

      // The job is read by the one, killed by the other.
      const read = {
        type: "ReadJobOutput",
        session_id: session,
        job_id: update.job_id,
        request_id: "r1",
        offset: 0,
      };
      const output = async (): Promise<Message> => {
        const chunk = await one.ask(read, "JobOutput", "JobOutputError");
        return chunk.output === "" ? output() : chunk;
      };
      expect(await output()).toEqual({
        type: "JobOutput",
        session_id: session,
        job_id: update.job_id,
        request_id: "r1",
        offset: 0,
        next_offset: 12,
        output: "from native\n",
        done: false,
        incomplete: false,
      });
      await two.command({ type: "job_kill", job: update.job_id });
      await one.waitFor((message) => message.type === "JobUpdate" && message.state === "cancelled");

      // A turn that waits is cancelled by the other.
      one.send({
        type: "SubmitPrompt",
        session_id: session,
        request_id: "k1",
        text: "echo never",
        attachments: [],
      });
      const receipt = await one.waitFor((message) => message.type === "PromptReceipt");
      expect(receipt).toMatchObject({ status: "accepted", request_id: "k1" });
      await two.waitFor(
        (message) => message.event?.type === "permission_requested" && message.event.summary === "echo never",
      );
      await two.command({ type: "cancel", agent });
      await one.waitFor((message) => message.type === "ErrorEvent");

      const history = await attach(await mew(), session);
      expect(prompts(history)).toEqual(["echo from mew", "echo from native; sleep 60 &", "echo never"]);
    },
    slowMs,
  );

  it(
    "share a question, and a session that was begun by the native one",
    async () => {
      const cwd = await temporary();
      const script = join(cwd, "ask.jsonl");
      await writeFile(
        script,
        [
          { type: "text_delta", text: "So: " },
          {
            type: "question_asked",
            id: "q",
            questions: [{ prompt: "Which store?", options: [{ label: "sqlite" }] }],
          },
          { type: "assistant_message", text: "You said {answer:q}." },
        ]
          .map((step) => JSON.stringify(step))
          .join("\n"),
      );
      daemon = await startTestDaemon({ cwd, config: `[replay.ask]\nscript = "${script}"\n` });
      const [one, two] = [await mew(), await native()];
      const { agent } = await two.command({ type: "agent_start", runtime: "replay", model: "ask" });
      await attach(one, agent);
      const { turn } = await two.command({ type: "prompt", agent, text: "go" });
      const question = await one.waitFor((message) => message.type === "AskUserRequest");
      expect(question.questions).toEqual([
        { prompt: "Which store?", options: [{ label: "sqlite", description: "" }] },
      ]);
      one.send({
        type: "AskUserResponse",
        request_id: question.request_id,
        answers: ["sqlite"],
        cancelled: false,
      });
      const resolved = await two.waitFor((message) => message.event?.type === "question_resolved");
      expect(resolved.event).toMatchObject({ cancelled: false, answers: ["sqlite"] });
      const end = await two.waitFor((message) => message.event?.type === "turn_finished");
      expect(end.event).toMatchObject({ turn, outcome: "done" });
      const history = await attach(one, agent);
      const said = history.messages
        .flatMap((message: Message) => message.parts)
        .map((part: Message) => part.text);
      expect(said.at(-1)).toBe("You said sqlite.");
    },
    slowMs,
  );
});

describe("sessions of the mew dialect", () => {
  it(
    "resume after kill -9 with their history, receipts, titles and marks",
    async () => {
      const cwd = await temporary();
      daemon = await startTestDaemon({ cwd });
      const socket = await mew();
      const session = await newSession(socket, cwd);
      const submit = {
        type: "SubmitPrompt",
        session_id: session,
        request_id: "k1",
        text: "echo once",
        attachments: [],
      };
      socket.send(submit);
      const { request_id } = await socket.waitFor((message) => message.type === "PermissionRequest");
      socket.send({ type: "PermissionResponse", request_id, decision: "allow_once" });
      await socket.waitFor(turnEnded);
      await socket.ask({ type: "RegenerateTitle", session_id: session }, "SessionTitleChanged");
      socket.send({ type: "PinSession", session_id: session, pinned: true });
      socket.send({ ...submit, request_id: "k2", text: "echo cut" });
      await socket.waitFor((message) => message.type === "PromptReceipt" && message.request_id === "k2");
      const { home } = daemon;
      await daemon.kill9();
      expect((await socket.closed).code).toBe(1006);

      daemon = await startTestDaemon({ home, cwd });
      const again = await mew();
      for (const id of ["k1", "k2"]) {
        const ask = { type: "ReadPromptReceipt", session_id: session, request_id: id };
        expect((await again.ask(ask, "PromptReceipt")).status).toBe("accepted");
        expect(await again.ask({ ...submit, request_id: id }, "PromptReceipt")).toMatchObject({
          status: "accepted",
        });
      }
      const unknown = { type: "ReadPromptReceipt", session_id: session, request_id: "k3" };
      expect((await again.ask(unknown, "PromptReceipt")).status).toBe("unknown");
      const { sessions } = await again.ask({ type: "ListSessions" }, "SessionList");
      expect(sessions).toMatchObject([
        { session_id: session, title: "echo once", pinned: true, state: "idle" },
      ]);
      const history = await attach(again, session);
      expect(prompts(history)).toEqual(["echo once", "echo cut"]);
      again.send({ type: "Prompt", text: "echo goes on", attachments: [] });
      await again.waitFor((message) => message.type === "PermissionRequest");
    },
    slowMs,
  );

  it(
    "are behind the gate: a paired device below a door's path, refused without a token, out at once when revoked",
    async () => {
      const cwd = await temporary();
      const port = await freePort();
      daemon = await startTestDaemon({
        cwd,
        config: `[[door]]\nlisten = ${port}\nurl = "https://desk.example/base"\n`,
      });
      await daemon.request("POST", "/api/remote", { body: { access: "tunnel" } });
      const { json } = await daemon.request("POST", "/api/pair/codes", { body: {} });
      const { json: paired } = await daemon.request("POST", "/api/pair", {
        token: null,
        body: { code: json.code, name: "phone" },
      });
      const base = `http://127.0.0.1:${port}`;
      const headers = { host: "desk.example" };
      const open = (path: string, token: string | null) => openMew(base, { path, token, headers });
      for (const path of ["/base/mew", "/base/", "/mew", "/"]) {
        const socket = await open(path, paired.token);
        await socket.settle();
        await expect(open(path, null)).rejects.toThrow(/401/);
        await expect(open(path, daemon.token)).rejects.toThrow(/401/);
      }
      for (const path of ["/mew", "/"]) {
        await expect(mew(path, "wrong")).rejects.toThrow(/401/);
        await expect(mew(path, null)).rejects.toThrow(/401/);
        await expect(
          openMew(daemon.url, { path, token: daemon.token, headers: { origin: "https://evil.example" } }),
        ).rejects.toThrow(/403/);
      }
      expect((await daemon.request("GET", "/mew")).status).toBe(426);
      const ticket = await daemon.request("POST", "/api/ws/ticket", { body: {} });
      await (await mew(`/mew?ticket=${ticket.json.ticket}`, null)).settle();

      const [one, two] = [await open("/base/mew", paired.token), await open("/base/mew", paired.token)];
      const session = await newSession(one, cwd);
      await attach(two, session);
      one.send({ type: "Prompt", text: "echo x", attachments: [] });
      await two.waitFor((message) => message.type === "PermissionRequest");
      await daemon.request("DELETE", `/api/devices/${paired.device.id}`);
      for (const socket of [one, two]) expect((await socket.closed).code).toBe(4401);
      await expect(open("/base/mew", paired.token)).rejects.toThrow(/401/);
    },
    slowMs,
  );

  it(
    "of a device without admin stay below the browse root",
    async () => {
      const cwd = await temporary();
      await mkdir(join(cwd, "inside"));
      daemon = await startTestDaemon({ cwd, config: `[daemon]\nbrowse_root = "${cwd}/inside"\n` });
      const { json } = await daemon.request("POST", "/api/pair/codes", {
        body: { scopes: ["view", "drive", "approve"] },
      });
      const { json: paired } = await daemon.request("POST", "/api/pair", {
        token: null,
        body: { code: json.code, name: "phone" },
      });
      const socket = await mew("/mew", paired.token);
      expect(
        (await socket.ask({ type: "NewSession", cwd: "/etc" }, "Error", "SessionReady")).message,
      ).toMatch(/outside/);
      expect(await newSession(socket, join(cwd, "inside"))).toMatch(/^sess_/);
    },
    slowMs,
  );

  it(
    "end their legacy turn after mew.detach_grace, and no submitted one",
    async () => {
      const cwd = await temporary();
      daemon = await startTestDaemon({ cwd, config: "[mew]\ndetach_grace = 0\n" });
      const socket = await mew();
      const [legacy, submitted] = [await newSession(socket, cwd), await newSession(socket, cwd)];
      socket.send({
        type: "SubmitPrompt",
        session_id: submitted,
        request_id: "k",
        text: "echo stays",
        attachments: [],
      });
      await socket.waitFor((message) => message.type === "PermissionRequest");
      await attach(socket, legacy);
      socket.send({ type: "Prompt", text: "echo goes", attachments: [] });
      await socket.waitFor(
        (message) => message.type === "PermissionRequest" && message.input.command === "echo goes",
      );
      await socket.cut();
      const watcher = await mew();
      const ended = async (): Promise<Message> => {
        const { sessions } = await watcher.ask({ type: "ListSessions" }, "SessionList");
        const gone = sessions.find((each: Message) => each.session_id === legacy);
        return gone.state === "idle" ? sessions : ended();
      };
      const sessions = await ended();
      expect(sessions.find((each: Message) => each.session_id === submitted)).toMatchObject({
        state: "running",
        pending_permissions: 1,
      });
    },
    slowMs,
  );
});
