import { SallyportError } from "../../../errors.ts";
import { limits } from "../../../protocol/limits.ts";
import type { ProjectCommand } from "../../../protocol/objects.ts";
import type { MewSession } from "../attachment.ts";
import type { MewContext, MewHandlers } from "../message-table.ts";
import { attached, onTab } from "./find-session.ts";
import { promptAttached } from "./turn-messages.ts";

interface SlashCommand {
  readonly usage: string;
  readonly does: string;
  /** Returns what is answered. */
  run(session: MewSession, args: string, context: MewContext): Promise<string>;
}

const commands: Readonly<Record<string, SlashCommand>> = {
  clear: {
    usage: "/clear",
    does: "go on as if nothing had been said",
    async run(session, _args, { client, engine }) {
      await engine.sessions.clear({ type: "clear", agent: session.agent }, client.actor);
      return "context cleared";
    },
  },
  compact: {
    usage: "/compact",
    does: "sum up the conversation and go on from there",
    async run(session, _args, { client, engine }) {
      try {
        await engine.compact({ type: "compact", agent: session.agent }, client.actor);
      } catch (error) {
        // What has nothing to sum up, as a shell, has not failed.
        if (error instanceof SallyportError && error.code === "not_supported") return error.message;
        throw error;
      }
      return "compaction started";
    },
  },
  title: {
    usage: "/title [text]",
    does: "name the session, or name it after its first prompt",
    async run(session, args, { client, engine }) {
      if (args === "") return `title: ${await engine.sessions.regenerateTitle(session.agent, client.actor)}`;
      const title = args.slice(0, limits.labelChars);
      const row = await engine.sessions.update(
        { type: "session_update", session: session.agent, title },
        client.actor,
      );
      return `title: ${row.title ?? title}`;
    },
  },
  context: {
    usage: "/context",
    does: "show what the next prompt goes into",
    async run(_session, _args, context) {
      await promptAttached(context, { text: "/context", attachments: [] }, false);
      return "the answer is in the conversation";
    },
  },
};

function projectCommands(session: MewSession, { engine }: MewContext): readonly ProjectCommand[] {
  if (session.tab === null) return [];
  return (
    engine.places
      .list()
      .flatMap(({ id }) => engine.snapshot(id).workspace.tabs)
      .find(({ id }) => id === session.tab)?.project?.commands ?? []
  );
}

function help(own: readonly ProjectCommand[]): string {
  const rows = [
    ...Object.values(commands).map(({ usage, does }) => `${usage}: ${does}`),
    ...own.map(({ name, argument_hint, description }) =>
      [
        `/${name}${argument_hint === null ? "" : ` ${argument_hint}`}`,
        description ?? "a command of the project",
      ].join(": "),
    ),
  ];
  return ["/help: list the commands", ...rows].join("\n");
}

/** Commands of the daemon, and those of the session's project, which are prompts. */
export const slashMessages: Pick<MewHandlers, "slash_command"> = {
  async slash_command(message, context) {
    const session = attached(context);
    const { client } = context;
    const [, name = "", rawArgs = ""] = /^\/?(\S*)\s*([\s\S]*)$/.exec(message.command.trim()) ?? [];
    const args = rawArgs.trim();
    await onTab(session.agent, context);
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
    const own = command ? [] : projectCommands(session, context);
    let text: string;
    if (command) text = await command.run(session, args, context);
    else if (name === "help") text = help(own);
    else if (own.some((each) => each.name === name)) {
      await promptAttached(
        context,
        { text: `/${name}${args === "" ? "" : ` ${args}`}`, attachments: [] },
        false,
      );
      text = `running /${name}`;
    } else text = "unknown command. See /help.";
    client.send({ type: "slash_result", text });
  },
};
