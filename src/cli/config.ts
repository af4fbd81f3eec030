import { homedir } from "node:os";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/config-error.ts";
import { readConfigText } from "../config/load-config.ts";
import { type ParseConfigOptions, parseConfig } from "../config/parse-config.ts";
import { viewSettings } from "../config/view-settings.ts";
import { ruleProblem } from "../daemon/rule-problem.ts";
import type { Setting, Settings } from "../protocol/rest-objects.ts";
import { exitCodes } from "./cli-error.ts";
import type { Call, CommandSpec } from "./command.ts";
import { table } from "./printer.ts";
import { requireTarget } from "./target.ts";
import { inline } from "./text.ts";

const path: CommandSpec = {
  usage: "path",
  about: "Print where the settings are written, whether the file is there or not.",
  examples: ["sallyport config path"],
  json: true,
  async run(call) {
    if (call.json) await call.out.json({ path: call.paths.config });
    else await call.out.line(inline(call.paths.config));
    return exitCodes.done;
  },
};

const show: CommandSpec = {
  usage: "show",
  about: "Print every setting with its value and where that comes from. Secrets are not shown.",
  examples: ["sallyport config show", "sallyport config show --json"],
  json: true,
  anywhere: true,
  async run(call) {
    const settings = await readSettings(call);
    if (call.json) await call.out.json(settings);
    else {
      await call.out.line(
        table([
          ["SETTING", "VALUE", "FROM"],
          ...settings.settings.map((setting) => [inline(setting.key), valueText(setting), setting.source]),
        ]),
      );
      await call.out.line(`\n${inline(settings.path)}`);
    }
    if (settings.problem === null) return exitCodes.done;
    await call.out.note(
      `sallyport: ${inline(settings.problem)} Nothing of the file counts until that is repaired.`,
    );
    return exitCodes.failed;
  },
};

export const configCommand: CommandSpec = {
  usage: "config",
  about: "The settings in config.toml.",
  examples: ["sallyport config path", "sallyport config show"],
  children: [path, show],
};

/** From the file itself, so that it works without a daemon; of a daemon elsewhere, from that. */
async function readSettings(call: Call): Promise<Settings> {
  if (call.remote !== null) {
    const { rest } = await requireTarget(call);
    return rest.body<Settings>("GET", "/api/settings");
  }
  const options = { path: call.paths.config, userHome: homedir(), ruleProblem };
  const text = (await readConfigText(call.paths.config)) ?? "";
  const view = viewSettings(text, { ...options, running: parsedOrDefaults(text, options), writer: "master" });
  return { path: call.paths.config, settings: [...view.settings], problem: view.problem, context: null };
}

function parsedOrDefaults(text: string, options: ParseConfigOptions): Config {
  try {
    return parseConfig(text, options);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return parseConfig("", options); // The view says what is wrong with the file.
  }
}

function valueText(setting: Setting): string {
  if (setting.secret) return setting.present ? "(set, not shown)" : "-";
  const { value } = setting;
  if (value === null || value === undefined) return "-";
  return inline(typeof value === "string" ? value : JSON.stringify(value));
}
