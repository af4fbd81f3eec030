import { homePaths } from "../../src/config/home-paths.ts";
import { createClosers } from "../../src/daemon/closers.ts";
import { openCore } from "../../src/daemon/open-core.ts";
import { openHome } from "../../src/daemon/open-home.ts";
import type { StartDaemonOptions } from "../../src/daemon/running-daemon.ts";
import { serve } from "../../src/daemon/serve.ts";
import type { ChangeBody } from "../../src/protocol/changes.ts";
import { type Broadcaster, createBroadcaster } from "../harness/broadcast.ts";
import { answerCalls } from "../harness/child.ts";

// The whole daemon in this process, with its change log at hand: only the source of the events is made up.

let broadcaster: Broadcaster | null = null;

const calls = {
  /** Serves a home; `eventBytes` is the size of each event's frame. */
  async start({ home, eventBytes }: { readonly home: string; readonly eventBytes: number }) {
    const options: StartDaemonOptions = {
      home,
      version: "0.0.0",
      port: 0,
      host: null,
      remote: false,
      tokenFile: null,
      cwd: home,
      env: { PATH: process.env.PATH },
      hangUp: "end",
    };
    const closers = createClosers(() => opened.log);
    const opened = await openHome(homePaths(home), options, closers);
    const core = await openCore(options, opened, closers);
    const end = () => closers.run(5_000);
    const served = await serve({ options, home: opened, core, closers, end, reason: () => null });
    const bare = textEvent("");
    const text = "x".repeat(eventBytes - JSON.stringify({ ...bare, rev: 1_000 }).length);
    broadcaster = await createBroadcaster(() => core.changeLog.append(textEvent(text)));
    return {
      port: served.port,
      url: served.url,
      masterToken: core.authority.master.token,
      controlPort: broadcaster.controlPort,
    };
  },
  /** Makes the events those of an agent that exists. */
  speakAs({ agent: spoken }: { readonly agent: string }): void {
    agent = spoken;
  },
  flood: ({ count }: { readonly count: number }) => started().flood(count),
  drip: ({ count, intervalMs }: { readonly count: number; readonly intervalMs: number }) =>
    started().drip(count, intervalMs),
  pour: ({ count }: { readonly count: number }) => started().pour(count),
};
export type ProductCalls = typeof calls;

function started(): Broadcaster {
  if (broadcaster === null) throw new TypeError("start comes first");
  return broadcaster;
}

let seq = 0;
let agent = "01a17400-0000-7000-8000-000000000003";
function textEvent(text: string): ChangeBody {
  seq += 1;
  return {
    type: "event",
    workspace: "01a17400-0000-7000-8000-000000000001",
    tab: "01a17400-0000-7000-8000-000000000002",
    event: {
      agent,
      seq,
      at: "2026-11-30T12:00:00.000Z",
      type: "text_delta",
      message: "01a17400-0000-7000-8000-000000000004",
      text,
    },
  };
}

answerCalls(calls);
