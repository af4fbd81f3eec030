/** What a line of `attach` asks for. */
export type Line =
  | { readonly do: "nothing" }
  | { readonly do: "prompt"; readonly text: string }
  | { readonly do: "decide"; readonly decision: "allow" | "allow_session" | "deny" }
  | { readonly do: "answer"; readonly text: string }
  | { readonly do: "mode"; readonly mode: string | null }
  | { readonly do: "agent"; readonly which: string }
  | { readonly do: "job"; readonly id: string }
  | { readonly do: "help" | "quit" | "cancel" | "jobs" | "agents" | "new" | "compact" }
  | { readonly do: "wrong"; readonly hint: string };

export const helpText = [
  "A line is a prompt. Lines that begin with a slash:",
  "  /cancel              end the turn that runs",
  "  /jobs, /job ID       the jobs; the last output of one",
  "  /agents, /agent N    the agents of this tab; go to one",
  "  /new                 a new agent in this tab, from the next prompt on",
  "  /mode [MODE]         show the tab's mode, or set it: ask, edits, autopilot",
  "  /compact             make the conversation shorter",
  "  /allow, /allow-session, /deny    answer the request that waits",
  "  /answer TEXT, /skip  answer the question that waits, or close it",
  "  /help, /quit         this list; leave (agents and jobs go on)",
].join("\n");

const plain = new Set(["cancel", "jobs", "agents", "new", "compact", "help", "quit"]);
const sameAs: Readonly<Record<string, string>> = { exit: "quit", q: "quit", "?": "help", clear: "new" };
const decisions = { allow: "allow", "allow-session": "allow_session", deny: "deny" } as const;

/**
 * Reads a line. A slash word that is not ours belongs to the agent (its project's own commands, `/context`) and is a
 * prompt like any other if it is known; else it is a slip, and is not sent.
 *
 * @param isAgents true for a slash word that the agent understands
 */
export function parseLine(raw: string, isAgents: (word: string) => boolean): Line {
  if (raw.trim() === "") return { do: "nothing" };
  const [, word = "", rest = ""] = /^\/([^\s/]*)(?:\s+([\s\S]*))?$/.exec(raw.trimEnd()) ?? [];
  if (word === "") return { do: "prompt", text: raw };
  const name = sameAs[word] ?? word;
  if (plain.has(name)) return { do: name } as Line;
  if (Object.hasOwn(decisions, name))
    return { do: "decide", decision: decisions[name as keyof typeof decisions] };
  switch (name) {
    case "mode":
      return { do: "mode", mode: rest === "" ? null : rest };
    case "agent":
      return rest === "" ? { do: "agents" } : { do: "agent", which: rest };
    case "job":
      return rest === "" ? { do: "jobs" } : { do: "job", id: rest };
    case "answer":
      return { do: "answer", text: rest };
    case "skip":
      return { do: "answer", text: "/skip" };
    default:
      if (isAgents(word)) return { do: "prompt", text: raw };
      return {
        do: "wrong",
        hint: `There is no /${word}. See /help; to send the line as it is, begin it with a blank.`,
      };
  }
}
