import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  parseReplayScript,
  ReplayScriptError,
  replayLimits,
  stepSchemas,
} from "../../../src/engine/runtimes/replay-script.ts";

const examples = new URL("../../../examples/replay/", import.meta.url);

describe("parseReplayScript", () => {
  it.each(readdirSync(examples))("takes the example %s", (name) => {
    expect(parseReplayScript(readFileSync(new URL(name, examples), "utf8")).length).toBeGreaterThan(2);
  });

  it("leaves out empty lines and comments, also with the line ends of Windows", () => {
    const script = '// a comment\r\n\r\n{"type":"wait"}\r\n  \r\n';
    expect(parseReplayScript(script)).toEqual([{ type: "wait" }]);
  });

  it("is told whole by docs/replay.md", () => {
    const doc = readFileSync(new URL("../../../docs/replay.md", import.meta.url), "utf8");
    const named = [...doc.matchAll(/^\| ((?:`[a-z_]+`(?:, )?)+) \|/gm)].flatMap((row) =>
      [...(row[1] ?? "").matchAll(/`([a-z_]+)`/g)].map((match) => match[1] ?? ""),
    );
    for (const type of Object.keys(stepSchemas)) expect(named).toContain(type);
  });

  it.each([
    ["", "no steps"],
    ["// nothing\n", "no steps"],
    ["{", "line 1: it is not JSON"],
    ["[]", "line 1: its type must be one of"],
    ["null", "line 1: its type must be one of"],
    ['{"type":"constructor"}', "line 1: its type must be one of"],
    ['{"type":"wait"}\n{"type":"explode"}', "line 2: its type must be one of"],
    ['{"type":"text_delta"}', "line 1: it must have required properties text"],
    ['{"type":"wait","delay_ms":-1}', "line 1: /delay_ms"],
    ['{"type":"wait","delay_ms":60001}', "line 1: /delay_ms"],
    ['{"type":"wait","speed":2}', "line 1: /speed is not a field of this step"],
    ['{"type":"question_asked","id":"q","questions":[]}', "line 1: /questions"],
    ['{"type":"usage","input_tokens":1.5,"output_tokens":0}', "line 1: /input_tokens"],
    ['{"type":"tool_output","call":"c","text":"x"}', 'no tool_started before it is named "c"'],
    ['{"type":"text_delta","agent":"a","text":"x"}', 'no agent_started before it is named "a"'],
    ['{"type":"wait","when":{"step":"q"}}', 'no call or question before it is named "q"'],
    ['{"type":"wait","when":{"is":"denied"}}', "name the step"],
  ])("refuses %j whole, with the line and the reason", (text, reason) => {
    expect(() => parseReplayScript(text)).toThrow(ReplayScriptError);
    expect(() => parseReplayScript(text)).toThrow(reason);
  });

  it("refuses more steps than the bound", () => {
    const script = '{"type":"wait"}\n'.repeat(replayLimits.steps + 1);
    expect(() => parseReplayScript(script)).toThrow("at most 5000 steps");
  });

  it("throws nothing but its own error, whatever it is given", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.json())), (lines) => {
        try {
          parseReplayScript(lines.join("\n"));
        } catch (error) {
          expect(error).toBeInstanceOf(ReplayScriptError);
        }
      }),
    );
  });
});
