#!/usr/bin/env node
import { version } from "../lib/version.ts";
import { commands } from "./commands.ts";
import { processIo } from "./io.ts";
import { runCli } from "./run-cli.ts";

// All output has been written when this resolves, so nothing that is left open may keep the process.
process.exit(await runCli({ argv: process.argv.slice(2), io: processIo(), version, commands }));
