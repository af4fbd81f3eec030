import { exitCodes } from "./cli-error.ts";
import { type CommandSpec, isOn } from "./command.ts";
import { openAddress, openPage } from "./open-page.ts";
import { requireTarget } from "./target.ts";
import { inline } from "./text.ts";

export const webCommand: CommandSpec = {
  usage: "web",
  about:
    "Print the page's address. With --open, open it in this machine's browser and let that in: the secret goes through a file that only you can read, and counts once.",
  examples: ["sallyport web", "sallyport web --open"],
  json: true,
  anywhere: true,
  options: [{ flags: "--open", about: "open the page in the browser of this machine" }],
  async run(call) {
    const { url, local } = await requireTarget(call);
    // Without secrets: what is printed here ends in scrollback and logs.
    if (call.json) await call.out.json({ url });
    else await call.out.line(inline(url));
    if (!isOn(call, "open")) {
      if (!call.json)
        await call.out.note(
          local === null
            ? "A browser pairs there with a code of its own: sallyport pair"
            : "Open it and let the browser in: sallyport web --open",
        );
      return exitCodes.done;
    }
    // The page of a daemon elsewhere pairs by itself; only this machine's own can be let in by its master token.
    if (local === null) await openAddress(call, url);
    else await openPage(call, local);
    return exitCodes.done;
  },
};
