import { readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { disposeDaemons, startTestDaemon, type TestDaemon, temporaryHome } from "./daemon.ts";
import { request } from "./http.ts";
import { type MewSocket, openMew } from "./mew-socket.ts";
import { type ModelServer, startModelServer } from "./model-server/model-server.ts";
import { playScenes, type Scene } from "./model-server/reply.ts";
import { type Message, openSocket, type TestSocket } from "./socket.ts";

/** A coding agent of others, and what its model shall say. */
export interface LabAgent {
  /** Name of its runtime. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Settings, for a model at this address. */
  readonly env: (modelUrl: string) => Readonly<Record<string, string>>;
  /** What stands in credentials.toml for it. */
  readonly keys: Readonly<Record<string, string>>;
  readonly scenes: (project: string) => readonly Scene[];
  /** Further lines of config.toml. */
  readonly config?: string;
  /** Files in the user's home before the start. */
  readonly prepare?: (userHome: string, modelUrl: string) => Promise<void>;
}

export interface LabTurn {
  readonly agent: string;
  readonly turn: string;
  /** Its first event that fits, from its beginning; also one that comes later. Rejects when it ends without. */
  event(fits: (event: Message) => boolean): Promise<Message>;
  /** Its end. */
  end(): Promise<Message>;
  /** What the phone heard of it so far. */
  events(): readonly Message[];
}

export interface AgentLab {
  readonly root: string;
  readonly home: string;
  readonly project: string;
  readonly userHome: string;
  readonly model: ModelServer;
  readonly daemon: TestDaemon;
  /** A paired device on the native socket. */
  readonly phone: TestSocket;
  /** The device's token. */
  readonly token: string;
  readonly tab: string;
  /** The only key that the model lets in. */
  readonly key: string;
  startAgent(): Promise<string>;
  prompt(agent: string, text: string): Promise<LabTurn>;
  /** Prompts, allows whatever is asked for, and resolves with the end. */
  allowAll(agent: string, text: string): Promise<LabTurn>;
  answer(request: Message, decision: "allow" | "allow_session" | "deny"): Promise<Message>;
  mew(): Promise<MewSocket>;
  /** Kills the daemon as the system does, and starts it again on the same home. */
  crashDaemon(): Promise<void>;
  /** Writes credentials.toml. */
  keep(keys: Readonly<Record<string, string>>): Promise<void>;
  close(): Promise<void>;
}

const key = "sk-lab-0123456789abcdef";

/** A daemon with one agent, its model on loopback, and a phone. The agent sees a home of its own. */
export async function startAgentLab(agent: LabAgent): Promise<AgentLab> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "sallyport-agent-")));
  const project = join(root, "project");
  const userHome = join(root, "user");
  const home = await temporaryHome();
  await mkdir(project);
  await mkdir(userHome);
  const model = await startModelServer({ key, answer: playScenes(agent.scenes(project)) });
  await agent.prepare?.(userHome, model.url);
  const toml = (values: Readonly<Record<string, string>>): string =>
    Object.entries(values)
      .map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
      .join("\n");
  const keep = (keys: Readonly<Record<string, string>>): Promise<void> =>
    writeFile(join(home, "credentials.toml"), `[agents.${agent.name}]\n${toml(keys)}\n`, { mode: 0o600 });
  await keep(agent.keys);

  let daemon: TestDaemon;
  let phone: TestSocket;
  let token: string | null = null;
  let tab = "";

  async function open(): Promise<void> {
    daemon = await startTestDaemon({
      home,
      cwd: project,
      env: {
        HOME: userHome,
        XDG_CONFIG_HOME: join(userHome, ".config"),
        XDG_DATA_HOME: join(userHome, ".local", "share"),
        XDG_STATE_HOME: join(userHome, ".local", "state"),
        XDG_CACHE_HOME: join(userHome, ".cache"),
      },
      config: [
        `[agents.${agent.name}]`,
        `command = ${JSON.stringify(agent.command)}`,
        `args = ${JSON.stringify(agent.args)}`,
        `[agents.${agent.name}.env]`,
        toml(agent.env(model.url)),
        agent.config ?? "",
      ].join("\n"),
    });
    if (token === null) {
      const code = await daemon.request("POST", "/api/pair/codes", { body: {} });
      const pair = { code: code.json.code, name: "Pixel phone", kind: "phone" };
      token = (await request(daemon.url, "POST", "/api/pair", { body: pair })).json.token as string;
    }
    phone = await openSocket(daemon.url, { token });
    tab = phone.messages[0].workspace.tabs[0].id;
  }

  async function prompt(id: string, text: string): Promise<LabTurn> {
    const socket = phone;
    const ack = await socket.command({ type: "prompt", agent: id, text });
    if (ack.type !== "ack") throw new Error(`the prompt was refused: ${JSON.stringify(ack)}`);
    const from = socket.messages.findIndex(
      ({ event }) => event?.type === "turn_started" && event.turn === ack.turn,
    );
    const mine = (): readonly Message[] =>
      socket.messages.slice(from).flatMap(({ event }) => (event?.agent === id ? [event] : []));
    const event = async (fits: (event: Message) => boolean): Promise<Message> => {
      const isOver = (each: Message): boolean => each.type === "turn_finished" && each.turn === ack.turn;
      await socket.waitFor(() => mine().some((each) => fits(each) || isOver(each)));
      const found = mine().find(fits);
      if (found !== undefined) return found;
      throw new Error(`the turn ended without it: ${JSON.stringify(mine().slice(-8), null, 1)}`);
    };
    return {
      agent: id,
      turn: ack.turn,
      event,
      end: () => event((each) => each.type === "turn_finished" && each.turn === ack.turn),
      events: mine,
    };
  }

  const lab: AgentLab = {
    root,
    home,
    project,
    userHome,
    model,
    key,
    keep,
    get daemon() {
      return daemon;
    },
    get phone() {
      return phone;
    },
    get token() {
      return token ?? "";
    },
    get tab() {
      return tab;
    },
    async startAgent() {
      const started = await phone.command({ type: "agent_start", tab, runtime: agent.name });
      if (started.type !== "ack") throw new Error(`the agent was refused: ${JSON.stringify(started)}`);
      return started.agent;
    },
    prompt,
    async allowAll(id, text) {
      const turn = await prompt(id, text);
      const answered = new Set<string>();
      for (;;) {
        const next = await turn.event(
          (each) =>
            each.type === "turn_finished" ||
            (each.type === "permission_requested" && !answered.has(each.request_id)),
        );
        const open = turn
          .events()
          .filter((each) => each.type === "permission_requested" && !answered.has(each.request_id));
        for (const each of open) {
          answered.add(each.request_id);
          await lab.answer(each, "allow");
        }
        if (next.type === "turn_finished") return turn;
      }
    },
    answer: ({ request_id, digest }, decision) =>
      phone.command({ type: "approve", request_id, decision, ...(digest === undefined ? {} : { digest }) }),
    mew: () => openMew(daemon.url, { token }),
    async crashDaemon() {
      await daemon.kill9();
      await open();
    },
    async close() {
      await disposeDaemons();
      await model.close();
      await rm(root, { recursive: true, force: true, maxRetries: 3 });
    },
  };
  await open();
  return lab;
}

/** Processes of this machine with this text among their arguments and this one in their environment. Linux only. */
export function processesWith(argument: string, environment: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return (
          readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(argument) &&
          readFileSync(`/proc/${pid}/environ`, "utf8").includes(environment)
        );
      } catch {
        // It ended while we looked, or is of another user.
        return false;
      }
    })
    .map(Number);
}

/** SIGKILL to each that is still there. */
export function killProcesses(pids: readonly number[]): void {
  for (const pid of pids)
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      // It ended with its parent.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
}
