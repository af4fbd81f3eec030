import { describe, expect, it } from "vitest";
import { auditLine } from "../../src/auth/audit.ts";

const at = "2026-11-30T12:00:00.000Z";

describe("auditLine", () => {
  it("is one line of JSON with the time first", () => {
    const line = auditLine({ type: "pairing_missed", count: 3 }, at);
    expect(line).toBe(`{"at":"${at}","type":"pairing_missed","count":3}\n`);
  });

  it("log injection: a name with newlines stays one line", () => {
    const name = 'evil\n{"at":"…","type":"token_rotated"}\r\u2028';
    const line = auditLine({ type: "device_expired", device: "d", name }, at);
    expect(line.trimEnd().split(/\n|\r/)).toHaveLength(1);
    expect(JSON.parse(line)).toMatchObject({ name });
  });
});
