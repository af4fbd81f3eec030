import { StoppedError } from "../../client/client.ts";
import { createLiveClient } from "../../client/live-client.ts";
import { openAnswerDesk } from "../answer-desk.ts";
import { CliError, exitCodes, failedError, usageError } from "../cli-error.ts";
import { type Call, type CommandSpec, isOn, textOption } from "../command.ts";
import { choosesAgent, newAgentOptions, startChosen } from "../new-agent.ts";
import { sendAnswers } from "../send-answers.ts";
import { tabOption } from "../session.ts";
import { lastingTarget, requireTarget } from "../target.ts";
import { inline } from "../text.ts";
import { type LineEditor, startLineEditor } from "./line-editor.ts";
import { createLineMode, type LineMode } from "./line-mode.ts";
import { readLines } from "./read-lines.ts";

const maxWaitingLines = 100;

export const attachCommand: CommandSpec = {
  usage: "attach",
  about:
    "Talk with an agent, line by line: its words, tool calls and approvals, from here and from every other client. /help lists what else can be done. Lines can be piped in; each waits for the one before it.",
  examples: [
    "sallyport attach",
    "sallyport -C box attach --tab /srv/api",
    "sallyport attach --tab . --runtime qwen",
    "echo 'ls -l' | sallyport attach --new",
  ],
  anywhere: true,
  options: [
    { flags: "--agent <id>", about: "this agent (default: the active one of the tab)" },
    { flags: "--tab <dir>", about: "the tab of this folder; opened if there is none" },
    { flags: "--new", about: "begin a new agent" },
    ...newAgentOptions,
    { flags: "--json", about: "print one event a line" },
  ],
  async run(call) {
    if (textOption(call, "agent") !== null && (textOption(call, "tab") !== null || isOn(call, "new")))
      throw usageError("--agent has a tab already and is not new. Give --agent alone.");
    choosesAgent(call);
    const target = await requireTarget(call);
    // A first look that fails with a reason; later the client comes back by itself.
    await target.rest.request("GET", "/api/daemon");
    const client = createLiveClient({ ...lastingTarget(call, target), version: call.version });
    try {
      await client.ready();
      return await attach(call, client, target);
    } catch (error) {
      if (!(error instanceof StoppedError)) throw error;
      throw new CliError(exitCodes.notAllowed, "unauthorized", error.message);
    } finally {
      client.close();
    }
  },
};

type Client = ReturnType<typeof createLiveClient>;
type Target = Awaited<ReturnType<typeof requireTarget>>;

async function attach(call: Call, client: Client, target: Target): Promise<number> {
  const { io, out } = call;
  const place = await choosePlace(call, client);
  const isPiped = io.keyboard === null;
  let editor: LineEditor | null = null;
  const write = (text: string): void => void io.stderr.write(text).catch(() => undefined); // An echo that is not seen changes nothing.
  const desk = openAnswerDesk({
    out,
    hasKeyboard: !isPiped,
    elsewhere: `Answer with a line /allow or /deny, on a paired device, or at ${target.url}`,
    echo: write,
    onShown: () => mode.act({ act: "look" }),
    ...sendAnswers(client, (message) => void out.note(`  ${inline(message)}`)),
  });
  const mode: LineMode = createLineMode({
    call,
    client,
    rest: target.rest,
    desk,
    ...place,
    isPiped,
    screen: { hide: () => editor?.hide(), show: () => editor?.show() },
  });
  await out.note(headline(client, place));
  const stops = [
    io.onSignal("SIGINT", () => mode.act({ act: "interrupt" })),
    io.onSignal("SIGTERM", () => mode.act({ act: "leave" })),
    io.onSignal("SIGHUP", () => mode.act({ act: "leave" })),
  ];
  if (io.keyboard === null) void feed(call, mode);
  else
    editor = startLineEditor({
      keyboard: io.keyboard,
      now: io.now,
      write,
      onLine: (line) => mode.act({ line }),
      onInterrupt: () => mode.act({ act: "interrupt" }),
      onEnd: () => mode.act({ line: "/quit" }),
      isAsking: () => desk.isAsking,
      onKey: desk.key,
    });
  try {
    return await mode.run();
  } finally {
    editor?.stop();
    for (const stop of stops) stop();
  }
}

/** Hands on what is piped in, not faster than it is done. */
async function feed(call: Call, mode: LineMode): Promise<void> {
  try {
    for await (const line of readLines(call.io.input)) {
      mode.act({ line });
      while (mode.waitingLines > maxWaitingLines) await new Promise((resolve) => setTimeout(resolve, 20));
    }
  } catch (error) {
    await call.out.note(`sallyport: ${inline(error instanceof Error ? error.message : String(error))}`);
  }
  mode.act({ act: "end" });
}

/** The tab and agent to talk with. `agent` null: the first prompt begins one. */
async function choosePlace(call: Call, client: Client): Promise<{ tab: string; agent: string | null }> {
  const { workspace } = await client.ready();
  const named = textOption(call, "agent");
  if (named !== null) {
    const tab = workspace.tabs.find(({ agents }) => agents.some(({ id }) => id === named));
    if (tab === undefined)
      throw failedError(`No open tab has the agent "${inline(named)}". See: sallyport sessions`, "not_found");
    return { tab: tab.id, agent: named };
  }
  const given = await tabOption(call, { snapshot: { workspace }, command: client.command });
  const tab = given ?? workspace.active_tab ?? workspace.tabs[0]?.id;
  if (tab === undefined)
    throw failedError("The workspace has no tab. Open one: sallyport attach --tab DIR", "not_found");
  if (choosesAgent(call)) return { tab, agent: await startChosen(call, client, { tab }) };
  const row = client.state?.workspace.tabs.find(({ id }) => id === tab);
  return { tab, agent: isOn(call, "new") ? null : (row?.active_agent ?? null) };
}

function headline(client: Client, place: { tab: string; agent: string | null }): string {
  const tab = client.state?.workspace.tabs.find(({ id }) => id === place.tab);
  const agent = tab?.agents.find(({ id }) => id === place.agent);
  const who = agent === undefined ? "a new agent" : inline(agent.title ?? agent.label ?? agent.id);
  return `${inline(tab?.name ?? "")} (${inline(tab?.cwd ?? "")}), ${who}, mode ${tab?.mode ?? "?"}. /help says what can be done, /quit leaves.`;
}
