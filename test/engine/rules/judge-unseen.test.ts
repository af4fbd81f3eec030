import { describe, expect, it } from "vitest";
import { judgeCall } from "../../../src/engine/rules/judge-call.ts";
import type { CallToJudge, RuleSet, Verdict } from "../../../src/engine/rules/rules.ts";
import type { Mode } from "../../../src/protocol/objects.ts";

const none: RuleSet = { allow: [], deny: [] };
const deny: RuleSet = { allow: [], deny: ["bash(rm *)"] };
const ask = (allowSession: string | null): Verdict => ({ verdict: "ask", allowSession });
const fetchCall: Partial<CallToJudge> = { tool: "other", name: "fetch", subject: "https://x.example" };
const hiddenCommand: Partial<CallToJudge> = { tool: "bash", subject: "Run the tests", hidden: true };
const hiddenWrite: Partial<CallToJudge> = { tool: "edit", subject: "Edit something", hidden: true };

describe("judging what no rule can look into", () => {
  it.each<[string, Partial<CallToJudge>, Mode, RuleSet, readonly string[], Verdict]>([
    ["asks in ask", fetchCall, "ask", none, [], ask("fetch(https://x.example)")],
    ["asks in edits", fetchCall, "edits", none, [], ask("fetch(https://x.example)")],
    ["is the mode's in autopilot", fetchCall, "autopilot", none, [], { verdict: "allow", by: "autopilot" }],
    [
      "is what a person remembered",
      fetchCall,
      "ask",
      none,
      ["fetch(https://x.example)"],
      { verdict: "allow", by: "fetch(https://x.example)" },
    ],
    [
      "is not what was remembered of another name",
      fetchCall,
      "ask",
      none,
      ["tool(https://x.example)"],
      ask("fetch(https://x.example)"),
    ],
    ["cannot be remembered without words", { tool: "other", subject: " " }, "ask", none, [], ask(null)],
    ["is remembered as no rule of a command", hiddenCommand, "ask", none, [], ask(null)],
    ["asks for a hidden command where there are deny rules", hiddenCommand, "autopilot", deny, [], ask(null)],
    ["asks for a hidden write where there are deny rules", hiddenWrite, "autopilot", deny, [], ask(null)],
    [
      "trusts autopilot with a hidden command without deny rules",
      hiddenCommand,
      "autopilot",
      none,
      [],
      { verdict: "allow", by: "autopilot" },
    ],
    [
      "a rule that allows a command does not allow one whose words an agent made up",
      { tool: "bash", subject: "wc", hidden: true },
      "ask",
      { allow: ["bash(wc)"], deny: [] },
      ["bash(wc)"],
      ask(null),
    ],
  ])("%s", (_title, call, mode, rules, remembered, verdict) => {
    expect(judgeCall({ tool: "other", subject: "", cwd: "/p", ...call }, mode, rules, remembered)).toEqual(
      verdict,
    );
  });
});
