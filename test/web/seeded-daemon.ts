import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { startTestDaemon, type TestDaemon } from "../helpers/daemon.ts";

export interface SeededDaemon {
  readonly daemon: TestDaemon;
  /** The agent whose request waits, and the job that runs. */
  readonly agent: string;
  readonly job: string;
  /** A link that pairs one browser on this machine. */
  pairingLink(scopes?: readonly string[]): Promise<string>;
}

/**
 * A real daemon with something on every page: a conversation that played a script to a question, a command that waits for
 * an answer, a job that runs and one that ended.
 *
 * @param folder a temporary folder of the test
 */
export async function startSeededDaemon(folder: string): Promise<SeededDaemon> {
  const [api, site] = [join(folder, "api"), join(folder, "site")];
  for (const path of [api, site]) await mkdir(path, { recursive: true });
  const script = join(process.cwd(), "examples", "replay", "features.jsonl");
  const daemon = await startTestDaemon({ cwd: api, config: `[replay.features]\nscript = "${script}"\n` });

  const command = async (body: object): Promise<Record<string, unknown>> => {
    const answer = await daemon.request("POST", "/api/command", { body });
    if (answer.status >= 400) throw new Error(`${JSON.stringify(body)}: ${answer.text}`);
    return answer.json as Record<string, unknown>;
  };
  // First, in the tab of the shell: the one that is made next becomes the one of the prompts that name none.
  const asking = await command({ type: "prompt", text: "touch made-by-a-test" });
  const replayed = await command({ type: "tab_create", cwd: site, name: "site", runtime: "replay" });
  await command({ type: "prompt", tab: replayed.tab, text: "Show me everything" });
  const running = await command({ type: "job_start", command: "while :; do date; sleep 1; done" });
  await command({ type: "job_start", command: "echo done; exit 3" });

  return {
    daemon,
    agent: String(asking.agent),
    job: String((running.job as { id: string }).id),
    async pairingLink(scopes) {
      const { json } = await daemon.request("POST", "/api/pair/codes", { body: scopes ? { scopes } : {} });
      return `${daemon.url}/#pair=${(json as { code: string }).code}`;
    },
  };
}
