import { execFile } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { disposeDaemons, startTestDaemon, type TestDaemon } from "../helpers/daemon.ts";
import { requireProgram } from "../helpers/require-program.ts";
import { openSocket } from "../helpers/socket.ts";
import { readRepoFile } from "../meta/sources.ts";

const run = promisify(execFile);
const [curl, jq] = [requireProgram("curl"), requireProgram("jq")];

/** Programs that every system has or can have, not a client of ours: what a newcomer types first. */
describe.skipIf(curl === null || jq === null)("the curl examples of docs/protocol.md", () => {
  let userHome: string;
  let daemon: TestDaemon;

  beforeAll(async () => {
    userHome = await realpath(await mkdtemp(join(tmpdir(), "sallyport-curl-")));
    const home = join(userHome, ".sallyport");
    const folder = join(userHome, "project");
    await mkdir(home, { mode: 0o700 });
    await mkdir(folder);
    await writeFile(join(folder, "README.md"), "Hello.\n");
    daemon = await startTestDaemon({ home, cwd: folder });
  });
  afterAll(async () => {
    await disposeDaemons();
    await rm(userHome, { recursive: true, force: true });
  });

  const shell = async (script: string) =>
    (await run("sh", ["-euc", script], { env: { PATH: process.env.PATH, HOME: userHome } })).stdout;

  it("say what the daemon does, and prompt a new agent in the active tab", async () => {
    const doc = readRepoFile("docs/protocol.md");
    const script = /## Trying it with curl\n\n```sh\n([\s\S]*?)```/.exec(doc)?.[1] ?? "";
    const desk = await openSocket(daemon.url, { token: daemon.token });
    const printed = await shell(script);
    const answers = printed.split(/(?<=^\})\n?/m).filter((text) => text.trim() !== "");
    const [about, ack] = answers.map((text) => JSON.parse(text));
    expect(about).toMatchObject({ pid: daemon.pid, workspaces: 1, running_agents: 0, idle_minutes: 120 });
    expect(ack).toMatchObject({ type: "ack", status: "accepted" });
    // Its events reach every client of the socket; without a rule for it, the command asks first.
    const { event } = await desk.waitFor((message) => message.event?.type === "permission_requested");
    expect(event).toMatchObject({ agent: ack.agent, turn: ack.turn });
    await desk.close();
  });

  it("work in their shortest form too: only the type and the text", async () => {
    const printed = await shell(`
      URL=$(jq -r .url ~/.sallyport/daemon.json)
      TOKEN=$(jq -r .token ~/.sallyport/daemon.json)
      curl -s -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
        -d '{"type": "prompt", "text": "summarize the README"}' "$URL/api/command"
    `);
    expect(JSON.parse(printed)).toMatchObject({ type: "ack", status: "accepted", request_id: null });
  });

  it("are refused without the token, and with the token as a page of elsewhere would send it", async () => {
    const printed = await shell(`
      URL=$(jq -r .url ~/.sallyport/daemon.json)
      TOKEN=$(jq -r .token ~/.sallyport/daemon.json)
      curl -s -o /dev/null -w '%{http_code} ' "$URL/api/daemon"
      curl -s -o /dev/null -w '%{http_code} ' -H "Authorization: Bearer $TOKEN" -H 'X-Forwarded-For: 203.0.113.9' "$URL/api/daemon"
      curl -s -o /dev/null -w '%{http_code} ' "$URL/api/daemon?token=$TOKEN"
      curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $TOKEN" -d '{"type":"ping"}' "$URL/api/command"
    `);
    expect(printed).toBe("401 403 200 415");
  });
});
