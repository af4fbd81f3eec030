import type { PermissionRequest, Question } from "../../../src/protocol/objects.ts";

export function request(parts: Partial<PermissionRequest> = {}): PermissionRequest {
  return {
    request_id: "r1",
    workspace: "w1",
    tab: "t1",
    agent: "a1",
    turn: "u1",
    call_id: "c1",
    tool: "bash",
    summary: "ls",
    input: { command: "ls" },
    cwd: "/srv",
    allow_session: "bash(ls)",
    digest: "d",
    at: "2026-11-30T12:00:00.000Z",
    ...parts,
  };
}

export function question(questions: Question["questions"]): Question {
  return {
    request_id: `q${Math.floor(performance.now() * 1_000)}`,
    workspace: "w1",
    tab: "t1",
    agent: "a1",
    turn: "u1",
    call_id: null,
    subagent: null,
    questions,
    at: "2026-11-30T12:00:00.000Z",
  };
}
