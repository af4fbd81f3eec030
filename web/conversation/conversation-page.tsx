import { useComputed } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import type { Agent, By, TabWithAgents } from "../../src/protocol/objects.ts";
import { proseText } from "../markdown/prose-text.ts";
import type { PageProps } from "../routes/page-row.ts";
import { useActions } from "../state/actions.ts";
import { hrefOf } from "../state/router.ts";
import { useSession } from "../state/session.ts";
import type { TranscriptSource } from "../transcript/transcript-source.ts";
import { Button } from "../ui/button.tsx";
import { Page } from "../ui/page.tsx";
import { StateMark } from "../ui/state-mark.tsx";
import type { VirtualListHandle } from "../virtual/virtual-list.tsx";
import { tokensText } from "./call-text.ts";
import { Composer } from "./composer/composer.tsx";
import { type Conversation, ConversationContext } from "./conversation-context.ts";
import "./conversation.css";
import { ConversationMenu } from "./conversation-menu.tsx";
import { createExpansions } from "./expansion.ts";
import { OutgoingList } from "./outgoing-list.tsx";
import { modeTexts } from "./run-settings.tsx";
import { isMissing, TranscriptView } from "./transcript-view.tsx";
import { isShellRuntime } from "./use-runtime.ts";
import { useTranscript } from "./use-transcript.ts";

/** The conversation with one agent, live; also that of an agent which is on no tab of this workspace, to read. */
export function ConversationPage({ params }: PageProps) {
  const id = params.agent ?? "";
  return <ConversationOf key={id} id={id} />;
}

function ConversationOf({ id }: { readonly id: string }) {
  const session = useSession();
  const source = useTranscript(id);
  const list = useRef<VirtualListHandle>(null);
  const agent = session.agents.value.get(id) ?? null;
  const tab = agent === null ? null : (session.tabs.value.find((each) => each.id === agent.tab) ?? null);
  const title = useComputed(() => source.view.value.transcript.title);
  const isGone = useComputed(() => isMissing(source.view.value));
  const subagents = useComputed(() =>
    [...session.agents.value.values()].filter(({ parent }) => parent === id),
  );
  const ownTab = useComputed(() => {
    const own = session.agents.value.get(id)?.tab;
    return session.tabs.value.find((each) => each.id === own);
  });
  const note = useComputed(() => ownTab.value?.note ?? null);
  const cwd = useComputed(() => ownTab.value?.cwd ?? null);
  const isShell = useComputed(() => {
    const runtime = session.agents.value.get(id)?.runtime;
    return runtime !== undefined && isShellRuntime(session, runtime);
  });
  const conversation = useMemo<Conversation>(
    () => ({
      note,
      cwd,
      isShell,
      expansions: createExpansions(),
      subagents,
      nameOf: (by: By) =>
        by.device !== null && by.device === ownDevice(session)
          ? "you"
          : by.device === null
            ? "the machine itself"
            : by.name,
    }),
    [session, subagents, note, cwd, isShell],
  );
  useActions(
    `conversation list`,
    [
      {
        id: "next message",
        label: "Next message",
        section: "Conversation",
        keys: "j",
        run: () => list.current?.focusRow(1),
      },
      {
        id: "previous message",
        label: "Previous message",
        section: "Conversation",
        keys: "k",
        run: () => list.current?.focusRow(-1),
      },
      {
        id: "newest message",
        label: "To the end of the conversation",
        section: "Conversation",
        keys: "G",
        run: () => list.current?.scrollToEnd(),
      },
    ],
    [],
  );
  const name = agent?.title ?? title.value ?? agent?.label ?? "Conversation";

  return (
    <Page
      title={proseText(name)}
      layout="full"
      class="conversation-page"
      back={
        agent?.parent == null
          ? { href: hrefOf("/"), label: "Back to work" }
          : { href: hrefOf(`/agent/${agent.parent}`), label: "Back to the agent that started this one" }
      }
      lead={agent === null ? null : <Lead agent={agent} tab={tab} source={source} />}
      actions={agent === null ? null : <ConversationMenu agent={agent} tab={tab} />}
    >
      <ConversationContext.Provider value={conversation}>
        <SubagentBar subagents={subagents.value} />
        <TranscriptView
          source={source}
          handle={list}
          hint={
            isShell.value
              ? `Write a command line below; it runs in ${tab === null ? "the folder of its tab" : proseText(tab.cwd)}.`
              : "Write below what you want done."
          }
        />
        {!isGone.value && <Foot id={id} agent={agent} tab={tab} onSent={() => list.current?.scrollToEnd()} />}
      </ConversationContext.Provider>
    </Page>
  );
}

function ownDevice(session: ReturnType<typeof useSession>): string | null {
  const principal = session.snapshot.peek()?.daemon.principal;
  return principal !== undefined && "device" in principal ? (principal.device ?? null) : null;
}

interface LeadProps {
  readonly agent: Agent;
  readonly tab: TabWithAgents | null;
  readonly source: TranscriptSource;
}

/** One quiet line: what it does, where, with which model, how freely. */
function Lead({ agent, tab, source }: LeadProps) {
  const tokens = useComputed(() => source.view.value.transcript.contextTokens).value;
  const facts = [
    tab !== null && proseText(tab.name),
    agent.model !== null && proseText(agent.model),
    tab !== null && tab.mode !== "ask" && modeTexts[tab.mode].label,
    tokens !== null && `${tokensText(tokens)} tokens`,
  ].filter((fact) => fact !== false);
  return (
    <span class="conversation-lead">
      <StateMark state={agent.state} />
      <span>{facts.join(" · ")}</span>
    </span>
  );
}

const maxShownSubagents = 32;

/** The agents that this one started and that work or wait; those that have ended are reached from their call. */
function SubagentBar({ subagents }: { readonly subagents: readonly Agent[] }) {
  const active = subagents.filter(({ state }) => state === "running" || state === "waiting");
  if (active.length === 0) return null;
  return (
    <nav class="subagent-bar" aria-label="Subagents">
      {active
        .slice(-maxShownSubagents)
        .reverse()
        .map((agent) => (
          <a key={agent.id} class="chip" href={hrefOf(`/agent/${agent.id}`)}>
            <StateMark state={agent.state} isBare />
            <span>{proseText(agent.label ?? "subagent")}</span>
          </a>
        ))}
    </nav>
  );
}

interface FootProps {
  readonly id: string;
  readonly agent: Agent | null;
  readonly tab: TabWithAgents | null;
  readonly onSent: () => void;
}

function Foot({ id, agent, tab, onSent }: FootProps) {
  const session = useSession();
  if (agent === null)
    return (
      <div class="conversation-foot">
        <p>This conversation is on no tab of this workspace.</p>
        {session.may("drive") && (
          <Button kind="primary" onClick={() => void session.act({ type: "agent_open", agent: id })}>
            Go on with it
          </Button>
        )}
      </div>
    );
  if (agent.parent !== null)
    return (
      <div class="conversation-foot">
        <p>A subagent is prompted by the agent that started it.</p>
        {session.may("drive") && agent.state !== "idle" && agent.state !== "closed" && (
          <Button icon="stop" onClick={() => void session.act({ type: "cancel", agent: agent.id })}>
            Stop it
          </Button>
        )}
      </div>
    );
  if (!session.may("drive"))
    return (
      <div class="conversation-foot">
        <p>This device may look, but not prompt.</p>
      </div>
    );
  return (
    <>
      <Activity agent={agent} />
      <OutgoingList agent={agent.id} />
      <Composer agent={agent} tab={tab} onSent={onSent} />
    </>
  );
}

/** Reserved room, so that what comes and goes here moves nothing. */
function Activity({ agent }: { readonly agent: Agent }) {
  const text =
    agent.state === "running" ? "Working…" : agent.state === "waiting" ? "Waits for your answer." : "";
  return <p class="conversation-activity">{text}</p>;
}
