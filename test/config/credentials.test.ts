import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CredentialsError, loadCredentials, parseCredentials } from "../../src/config/credentials.ts";

const key = "sk-very-secret-0123456789";

function refusal(act: () => unknown): CredentialsError {
  try {
    act();
  } catch (error) {
    if (error instanceof CredentialsError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("parseCredentials", () => {
  const parse = (text: string) => parseCredentials(text, "/home/ada/.sallyport/credentials.toml");

  it("reads keys of agents and of MCP servers", () => {
    expect(
      parse(
        `[agents.qwen]\nOPENAI_API_KEY = "${key}"\n[mcp_servers.github]\nAuthorization = "Bearer ${key}"\n`,
      ),
    ).toEqual({
      agents: { qwen: { OPENAI_API_KEY: key } },
      mcpServers: { github: { Authorization: `Bearer ${key}` } },
    });
    expect(parse("# nothing yet\n")).toEqual({ agents: {}, mcpServers: {} });
  });

  it.each([
    ["a key that is not in quotes", `[agents.qwen]\nOPENAI_API_KEY = ${key}`, "line 2"],
    ["a text that does not end", `[agents.qwen]\nOPENAI_API_KEY = "${key}`, "line 2"],
    ["a name twice", `[agents.qwen]\nA = "${key}"\nA = "${key}"`, "line 3"],
    ["another table", `[agent.qwen]\nA = "${key}"`, "agents"],
    ["a key at the top", `OPENAI_API_KEY = "${key}"`, "no such table"],
    ["a key without an agent", `[agents]\nA = "${key}"`, "agents.A is not a table"],
    ["a number", "[agents.qwen]\nA = 4711", "agents.qwen.A must be a text"],
    ["an empty key", '[agents.qwen]\nA = ""', "agents.qwen.A must be a text"],
    ["a table for a key", `[agents.qwen.A]\nB = "${key}"`, "agents.qwen.A must be a text"],
    ["a key in the place of its name", `[agents.qwen]\n"${key}" = "x"`, "no name of a variable"],
    ["a key in the place of an agent", `[agents."${key} "]\nA = "x"`, "a name that is none"],
    ["a variable of ours", `[agents.qwen]\nSALLYPORT_TOKEN = "${key}"`, "of ours"],
    ["a line break", `[agents.qwen]\nA = """${key}\n"""`, "no key has"],
    ["a key that is too long", `[agents.qwen]\nA = "${key.repeat(1_000)}"`, "too long"],
    ["a list", "agents = [1]", "agents is not a table"],
    ["a date", "[agents.qwen]\nA = 2026-01-01", "must be a text"],
  ])("refuses %s, names the file, and says nothing of the key", (_case, text, says) => {
    const error = refusal(() => parse(text));
    expect(error.message).toContain("/home/ada/.sallyport/credentials.toml");
    expect(error.message).toContain(says);
    expect(inspect(error, { depth: 9 })).not.toContain(key);
    expect(inspect(error, { depth: 9 })).not.toContain("4711");
  });

  it("reads or refuses any text, and never says a word of it that is long enough for a key", () => {
    const text = fc.string({ minLength: 12, maxLength: 40 }).filter((each) => !/[\r\n]/.test(each));
    fc.assert(
      fc.property(text, fc.constantFrom("", "[agents.x]\nA = ", "agents.x.A = "), (secret, before) => {
        try {
          parse(before + secret);
        } catch (error) {
          expect(error).toBeInstanceOf(CredentialsError);
          // The table and the agent's name are no secrets.
          if (!/^[a-z_.]+$/i.test(secret)) expect(inspect(error)).not.toContain(secret);
        }
      }),
    );
  });
});

describe("loadCredentials", () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "sallyport-credentials-"));
    path = join(folder, "credentials.toml");
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const write = (text: string, mode = 0o600) => {
    writeFileSync(path, text);
    chmodSync(path, mode);
  };

  it("reads a file that is the user's alone; none holds nothing", () => {
    expect(loadCredentials(path)).toEqual({ agents: {}, mcpServers: {} });
    write(`[agents.qwen]\nA = "${key}"\n`);
    expect(loadCredentials(path).agents.qwen).toEqual({ A: key });
  });

  it.each([0o644, 0o640, 0o604, 0o660])("refuses one with mode %o, and says the chmod", (mode) => {
    write(`[agents.qwen]\nA = "${key}"\n`, mode);
    expect(refusal(() => loadCredentials(path)).message).toContain(`chmod 600 ${path}`);
  });

  it("refuses a link, a folder, and one that is too large", () => {
    writeFileSync(join(folder, "other"), "", { mode: 0o600 });
    symlinkSync(join(folder, "other"), path);
    expect(refusal(() => loadCredentials(path)).message).toContain("symbolic link");
    rmSync(path);
    mkdirSync(path);
    expect(refusal(() => loadCredentials(path)).message).toContain("not a regular file");
    rmSync(path, { recursive: true });
    write("#".repeat(64 * 1024 + 1));
    expect(refusal(() => loadCredentials(path)).message).toContain("64 KiB");
  });
});
