import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { judgeCall } from "../../../../src/engine/rules/judge-call.ts";
import { actor, local } from "../../support/engine-fixture.ts";
import { type Scripted, type ScriptedOptions, scripted } from "./support.ts";

let agent: Scripted;
afterEach(() => agent.dispose());

async function start(options?: ScriptedOptions): Promise<void> {
  agent = await scripted(options);
}
const logged = async (word: string) =>
  (await agent.logLines())
    .filter((line) => line.startsWith(`${word} `))
    .map((line) => line.slice(word.length + 1));
const recordPath = () => join(agent.at.home, "sessions", `${agent.agent}.acp.json`);

describe("the session of an ACP agent", () => {
  it("is one over all turns, in one process, in the folder of the tab", async () => {
    await start();
    await agent.run("one");
    await agent.run("two");
    expect(await logged("started")).toHaveLength(1);
    const [opened] = await logged("new");
    expect(JSON.parse(opened ?? "")).toEqual({ cwd: agent.at.project, mcpServers: [] });
    expect((await stat(recordPath())).mode & 0o777).toBe(0o600);
  });

  it.each([
    ["by session/load, whose replay is not recorded again", ["--memory"], ["load"]],
    ["by session/resume where it can", ["--memory", "--resume"], ["resume"]],
    [
      "by session/load where session/resume was an empty promise",
      ["--memory", "--resume", "--resume-fails"],
      ["resume", "load"],
    ],
  ])("is opened again after a restart of the daemon %s", async (_how, args, words) => {
    await start({ args });
    await agent.run("remember this");
    await agent.at.restart({ judgeCall });
    const { turn } = await agent.at.engine.prompt(
      { type: "prompt", agent: agent.agent, text: "and now" },
      local,
    );
    expect(await agent.ended(turn)).toMatchObject({ outcome: "done" });
    for (const word of words) expect(await logged(word)).toHaveLength(1);
    expect(await logged("new")).toHaveLength(1);
    const texts = (await agent.at.transcript(agent.agent)).flatMap((record) =>
      record.type === "assistant_message" ? [record.message.text] : [],
    );
    expect(texts).toEqual(["You said: remember this", "You said: and now"]);
  });

  it("that cannot be opened again begins anew, and the agent is told what was said, once", async () => {
    await start({ args: [] });
    await agent.run("my name is Ada");
    await agent.at.restart({ judgeCall });
    for (const text of ["who am I", "and again"]) {
      const { turn } = await agent.at.engine.prompt({ type: "prompt", agent: agent.agent, text }, local);
      await agent.ended(turn);
    }
    const prompts = (await logged("prompt")).map((line) => JSON.parse(line) as { text: string }[]);
    expect(prompts[1]?.[0]?.text).toContain("User: my name is Ada\n\nYou: You said: my name is Ada");
    expect(prompts[1]?.[1]?.text).toBe("who am I");
    expect(prompts[2]).toEqual([{ type: "text", text: "and again" }]);
    expect(agent.events("notice")[0]?.message).toContain("told what was said so far");
  });

  it("that the agent has forgotten begins anew", async () => {
    await start({ args: ["--memory"] });
    await agent.run("one");
    await writeFile(join(agent.folder, "memory.json"), "{}");
    await agent.at.restart({ judgeCall });
    const { turn } = await agent.at.engine.prompt({ type: "prompt", agent: agent.agent, text: "two" }, local);
    expect(await agent.ended(turn)).toMatchObject({ outcome: "done" });
    expect(await logged("load")).toHaveLength(1);
    expect(await logged("new")).toHaveLength(2);
  });

  it("whose record is damaged begins anew, and the damage is no failure", async () => {
    await start();
    await agent.run("one");
    await writeFile(recordPath(), "{", { mode: 0o600 });
    await agent.at.restart({ judgeCall });
    const { turn } = await agent.at.engine.prompt({ type: "prompt", agent: agent.agent, text: "two" }, local);
    expect(await agent.ended(turn)).toMatchObject({ outcome: "done" });
    expect(JSON.parse(await readFile(recordPath(), "utf8"))).toMatchObject({
      version: 1,
      runtime: "scripted",
    });
  });

  it("goes with the transcript when that is deleted", async () => {
    await start();
    await agent.run("one");
    await agent.at.engine.closeAgent(agent.agent, local);
    await agent.at.engine.library.deleteSession(agent.agent, local);
    await expect(stat(recordPath())).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("gets the MCP servers of the configuration, those by URL where it can", async () => {
    await start({
      mcpServers: [
        { name: "files", kind: "stdio", command: "/bin/mcp", args: ["-x"], env: { KEY: "v" } },
        { name: "web", kind: "http", url: "https://mcp.example/", headers: { Authorization: "Bearer x" } },
      ],
    });
    await agent.run("one");
    const [opened] = await logged("new");
    expect((JSON.parse(opened ?? "") as { mcpServers: unknown }).mcpServers).toEqual([
      { name: "files", command: "/bin/mcp", args: ["-x"], env: [{ name: "KEY", value: "v" }] },
      {
        type: "http",
        name: "web",
        url: "https://mcp.example/",
        headers: [{ name: "Authorization", value: "Bearer x" }],
      },
    ]);
  });

  it("is never opened in a folder that nobody trusts", async () => {
    await start();
    const folder = join(agent.at.project, "..", "foreign");
    await mkdir(folder);
    const phone = actor("phone", ["view", "drive"]);
    const tab = await agent.at.engine.createTab({ type: "tab_create", cwd: folder, runtime: "shell" }, phone);
    expect(tab.trusted).toBe(false);
    await expect(
      agent.at.engine.startAgent(
        { type: "agent_start", tab: tab.id, runtime: "scripted", model: "two" },
        phone,
      ),
    ).rejects.toMatchObject({ code: "path_refused" });
    expect(await agent.logLines()).toEqual([]);
  });
});

describe("the keys of an ACP agent", () => {
  it("are in no event and no record, though the agent and its server quote them", async () => {
    await start();
    expect(await agent.run([{ do: "leak", name: "SCRIPTED_API_KEY" }])).toMatchObject({
      outcome: "failed",
      error: "Scripted: 401: wrong key [secret].",
    });
    const all = JSON.stringify([...agent.at.changes, ...(await agent.at.transcript(agent.agent))]);
    expect(all).not.toContain("key-of-the-test-1234");
    expect(agent.said()).toBe("Your key is [secret].");
    expect(agent.events("tool_finished")).toMatchObject([{ output: "[secret]" }]);
  });
});
