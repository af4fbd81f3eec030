import type { Remote } from "../protocol/objects.ts";
import { exitCodes, usageError } from "./cli-error.ts";
import { type Call, type CommandSpec, textOption } from "./command.ts";
import { parseScopes } from "./devices.ts";
import { mintCode, showCode } from "./offers.ts";
import { requireTarget } from "./target.ts";

const maxDays = 3_650;

export const pairCommand: CommandSpec = {
  usage: "pair",
  about: "Make a pairing code for one device, valid for ten minutes, with a link and QR code.",
  examples: ["sallyport pair", "sallyport pair --scope view --scope approve --expires-days 30"],
  json: true,
  anywhere: true,
  options: [
    {
      flags: "--scope <scope...>",
      about: "what the device may do: view, drive, approve, admin (default: all)",
    },
    { flags: "--expires-days <n>", about: "after how many days the device must pair again (default: never)" },
  ],
  async run(call) {
    const raw = call.options.scope;
    const scopes = Array.isArray(raw) ? parseScopes(raw.map(String)) : null;
    const days = daysOption(call);
    const { rest } = await requireTarget(call);
    const code = await mintCode(
      { rest },
      {
        ...(scopes === null ? {} : { scopes }),
        ...(days === null ? {} : { expires_days: days }),
      },
    );
    if (call.json) await call.out.json(code);
    else await showCode(call.io, call.out, code, await rest.body<Remote>("GET", "/api/remote"));
    return exitCodes.done;
  },
};

function daysOption(call: Call): number | null {
  const raw = textOption(call, "expiresDays");
  if (raw === null) return null;
  const days = Number(raw);
  if (!/^\d+$/.test(raw) || days < 1 || days > maxDays)
    throw usageError(`--expires-days takes a number of days from 1 to ${maxDays}, as in: --expires-days 30`);
  return days;
}
