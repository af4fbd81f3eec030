import { exitCodes, usageError } from "./cli-error.ts";
import type { CommandSpec } from "./command.ts";
import { completionScript, shells } from "./completion-script.ts";
import { inline } from "./text.ts";

/** @param commands those that are completed */
export function completionCommand(commands: readonly CommandSpec[]): CommandSpec {
  const spec: CommandSpec = {
    usage: "completion <shell>",
    about: `Print what makes a shell complete these commands: ${shells.join(", ")}.`,
    examples: [
      "source <(sallyport completion bash)",
      "sallyport completion fish > ~/.config/fish/completions/sallyport.fish",
    ],
    async run(call) {
      const shell = shells.find((each) => each === call.words[0]);
      if (shell === undefined)
        throw usageError(
          `There is no completion for "${inline(call.words[0] ?? "")}"; there is: ${shells.join(", ")}`,
        );
      await call.io.stdout.write(completionScript(shell, [...commands, spec]));
      return exitCodes.done;
    },
  };
  return spec;
}
