import { describe, expect, it } from "vitest";
import { cloudflared } from "../../src/tunnel/providers/cloudflared.ts";
import { createToolTalk, type ToolTalk } from "../../src/tunnel/tool-talk.ts";

function heard(...lines: readonly string[]): ToolTalk {
  const talk = createToolTalk(
    cloudflared.plan({ rawFields: {}, settings: {}, insecureHttp: false }),
    () => undefined,
  );
  for (const line of lines) talk.hear(line);
  return talk;
}

const limited =
  'ERR Error unmarshaling QuickTunnel response: error code: 1015 status_code="429 Too Many Requests"';

describe("what a tool says", () => {
  it.each([
    ["a complaint that only repeats it", "ERR failed to start", "(429)"],
    ["one that explains less, later", "failed to unmarshal quick Tunnel: invalid character", "(429)"],
    ["one that trying again does not help", "Provided Tunnel token is not valid.", "refuses the token"],
  ])("an explained problem is not covered by %s", (_, line, text) => {
    expect(heard(limited, line).problem?.text).toContain(text);
  });

  it("a later complaint does not cover one that is final", () => {
    const { problem } = heard("Provided Tunnel token is not valid.", limited, "ERR failed");
    expect(problem).toMatchObject({ final: true, isKnown: true });
  });

  it("what it complained of before it was connected is over", () => {
    expect(heard("ERR failed to dial", "INF Registered tunnel connection").problem).toBeNull();
  });

  it("an address that is not taken is still none when it is connected", () => {
    const talk = heard("|  https://x.evil.example  |", "INF Registered tunnel connection");
    expect(talk.problem?.text).toContain("not below");
  });

  it("shows the message of a line of JSON as the last thing said", () => {
    expect(heard('{"level":"info","message":"Starting tunnel"}').lastLine).toBe("Starting tunnel");
  });
});
