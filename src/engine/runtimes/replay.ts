import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { SallyportError } from "../../errors.ts";
import type { AgentEvent } from "../../protocol/events.ts";
import { playScript } from "./replay-player.ts";
import { parseReplayScript, ReplayScriptError, replayLimits, type Step } from "./replay-script.ts";
import type { Runtime, TurnContext } from "./runtime.ts";

export interface ReplayOptions {
  /** Paths of the scripts by name, as the configuration has them now. */
  readonly scripts: () => Readonly<Record<string, string>>;
  readonly now: () => number;
}

const summaryPromptChars = 200;
const thinkingLevels: readonly string[] = ["low", "medium", "high"];

/**
 * Plays a script of events (docs/replay.md): each prompt plays it from its beginning. An agent's model is the script's
 * name. No account, no program, no change to any file: what calls would do is only shown. Permissions and questions are real.
 */
export function createReplayRuntime(options: ReplayOptions): Runtime {
  function chooseScript(name: string | null): string {
    const names = Object.keys(options.scripts());
    const chosen = name ?? names[0];
    if (chosen === undefined)
      throw new SallyportError(
        "not_supported",
        'No script is configured. Name one in config.toml: [replay.tour] with script = "/path/to/tour.jsonl"',
        { field: "runtime" },
      );
    if (!names.includes(chosen))
      throw new SallyportError("invalid_field", `There is no such script; there are: ${names.join(", ")}.`, {
        field: "model",
      });
    return chosen;
  }

  async function load(model: string | null): Promise<readonly Step[]> {
    const name = chooseScript(model);
    return readScript(name, options.scripts()[name] ?? "");
  }

  return {
    name: "replay",
    needsTrust: true,
    takesModel: true,
    about() {
      const has = Object.keys(options.scripts()).length > 0;
      return {
        title: "Replay",
        kind: "replay",
        source: "built_in",
        state: has ? "ready" : "missing",
        message: has ? "Plays scripts of events." : "No script is configured.",
        next: has ? null : 'Name one in config.toml: [replay.tour] with script = "/path/to/tour.jsonl"',
        version: null,
      };
    },
    models: () =>
      Object.keys(options.scripts()).map((id) => ({
        id,
        runtime: "replay",
        name: id,
        context_tokens: null,
        thinking: [...thinkingLevels],
      })),
    chooseModel: chooseScript,
    chooseThinking(thinking) {
      if (!thinkingLevels.includes(thinking))
        throw new SallyportError(
          "invalid_field",
          `There is no such level; there are: ${thinkingLevels.join(", ")}.`,
          { field: "thinking" },
        );
      return thinking;
    },
    checkPrompt(prompt) {
      if (prompt.text.trim() === "" && prompt.images === 0 && prompt.attachments === 0)
        throw new SallyportError("invalid_field", "There is nothing in this prompt.", { field: "text" });
    },
    async runTurn(context) {
      try {
        const steps = await load(context.model);
        const memory = needsMemory(steps) ? remember(await context.history()) : null;
        return await playScript({
          steps,
          context,
          now: options.now,
          fill: (text, answerTo) => fill(text, { context, memory, answerTo }),
        });
      } catch (error) {
        if (error instanceof ReplayScriptError) return { outcome: "failed", error: error.message };
        throw error;
      }
    },
    async compact(context) {
      const { prompts, summary } = remember(await context.history());
      const before = summary === null ? "" : `${summary} `;
      const listed = prompts.map((text) => JSON.stringify(text.slice(0, summaryPromptChars))).join(", ");
      return `${before}Asked so far: ${listed || "nothing"}.`;
    },
  };
}

interface Memory {
  /** Prompts since the last compaction. */
  readonly prompts: readonly string[];
  readonly summary: string | null;
}

function remember(records: readonly AgentEvent[]): Memory {
  const first = records[0];
  return {
    prompts: records.flatMap((record) => (record.type === "user_message" ? [record.text] : [])),
    summary: first?.type === "compacted" ? first.summary : null,
  };
}

function needsMemory(steps: readonly Step[]): boolean {
  return steps.some((step) => /\{(prompts|summary)\}/.test(JSON.stringify(step)));
}

function fill(
  text: string,
  values: {
    readonly context: TurnContext;
    readonly memory: Memory | null;
    readonly answerTo: (name: string) => string | null;
  },
): string {
  return text.replace(
    /\{(prompt|prompts|summary|thinking|answer:([^}]{1,64}))\}/g,
    (whole, key: string, name: string) => {
      if (key === "prompt") return values.context.text;
      if (key === "prompts") return String(values.memory?.prompts.length ?? 0);
      if (key === "thinking") return values.context.thinking ?? "none";
      if (key === "summary") return values.memory?.summary ?? "";
      return values.answerTo(name) ?? whole;
    },
  );
}

/** Reads a script anew for each turn, so that its author sees changes at once. Throws ReplayScriptError. */
async function readScript(name: string, path: string): Promise<readonly Step[]> {
  const fail = (problem: string): never => {
    throw new ReplayScriptError(`The script ${name} cannot be played: ${problem}.`);
  };
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(
    (error: NodeJS.ErrnoException) =>
      fail(
        `its file cannot be opened (${error.code}). Where it lies stands in config.toml, under [replay.${name}]`,
      ),
  );
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) fail("it is not a regular file");
    if (stat.size > replayLimits.fileBytes) fail(`it has more than ${replayLimits.fileBytes} bytes`);
    return parseReplayScript(await handle.readFile("utf8"));
  } catch (error) {
    if (!(error instanceof ReplayScriptError) || error.message.startsWith("The script ")) throw error;
    return fail(error.message);
  } finally {
    await handle.close();
  }
}
