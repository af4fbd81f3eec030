import type { CommandOf } from "../../protocol/commands.ts";
import { limits } from "../../protocol/limits.ts";
import type { Actor } from "../actor.ts";
import type { AttachmentDesk } from "../attachments/attachment-desk.ts";
import { type PromptInput, plainInput } from "../attachments/prompt-input.ts";
import type { FolderLimits } from "../files/resolve-folder.ts";
import type { Projects, TabFolder } from "../projects/projects.ts";
import type { Runtime } from "../runtimes/runtime.ts";
import { expandCommand } from "./expand.ts";
import { readSlashLine } from "./slash-line.ts";

export interface PromptToPrepare {
  readonly command: CommandOf<"prompt">;
  readonly tab: TabFolder;
  readonly agent: string;
  readonly runtime: Runtime;
  readonly actor: Actor;
}

export type PreparePrompt = (prompt: PromptToPrepare) => Promise<PromptInput>;

export interface PreparePromptOptions {
  readonly projects: Projects;
  readonly desk: AttachmentDesk;
  /** Where a device may read; `bounded` for one without `admin`. */
  readonly bounds: (bounded: boolean) => FolderLimits;
  /** Answers `/context`. */
  readonly describeContext: (agent: string) => Promise<string>;
}

/**
 * Works out what a prompt stands for: `/context` is answered by the daemon, `/name args` becomes the text of the project's
 * command file, attachments are read. Any other text beginning with `/` is just text. Throws `SallyportError` with the
 * field; nothing of the prompt has been accepted by then.
 */
export function createPromptPreparer(options: PreparePromptOptions): PreparePrompt {
  async function expand({ command, tab, runtime }: PromptToPrepare): Promise<string> {
    const line = readSlashLine(command.text);
    const file = line && (await options.projects.command(tab.cwd, line.name));
    if (!line || !file) return command.text;
    const text = expandCommand(file.body, line.args, {
      isCommandLine: runtime.promptIsCommandLine ?? false,
      maxChars: limits.promptChars,
    });
    runtime.checkPrompt({
      text,
      images: command.images?.length ?? 0,
      attachments: command.attachments?.length ?? 0,
    });
    return text;
  }

  return async (prompt) => {
    const { command, tab, actor } = prompt;
    await options.projects.load(tab);
    const isContext = readSlashLine(command.text)?.name === "context";
    const text = isContext ? command.text : await expand(prompt);
    const held = await options.desk.take(command, {
      cwd: tab.cwd,
      bounds: options.bounds(!actor.has("admin")),
    });
    const input = plainInput(text);
    return {
      ...input,
      parts: [...input.parts, ...held.attached.map(({ part }) => part)],
      attachments: held.attached.map(({ label }) => label),
      answer: isContext ? () => options.describeContext(prompt.agent) : null,
      release: held.release,
    };
  };
}
