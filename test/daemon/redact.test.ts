import { describe, expect, it } from "vitest";
import { redact } from "../../src/daemon/redact.ts";

describe("redact", () => {
  it.each([
    ["a master token", "spm_AbCdEf0123456789-_xyz", "AbCdEf"],
    ["a device token", "spd_eyJhbGciOi.eyJzdWIi.c2ln-_", "eyJ"],
    ["a ticket", "ticket spt_0123456789abcdef used", "0123456789abcdef"],
    ["a Bearer header", "authorization: Bearer abc.def-ghi", "abc.def"],
    ["a header in JSON", '{"authorization":"Bearer qwertyuiop"}', "qwertyuiop"],
    ["a Basic header", "Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"],
    ["a bare JWS", "got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.sig", "eyJzdWIi"],
    ["a query string", "GET /api/ws?version=1&token=hunter2hunter2 HTTP/1.1", "hunter2"],
    ["any query string", "GET /x?anything=hunter2", "hunter2"],
    ["a pairing link", "https://x.example/#pair=ABCDE-FGHJK", "ABCDE"],
    ["a pairing code", "code abcde-fghjk refused", "abcde"],
    ["a token field of JSON", '{"rawToken":"hunter2","x":1}', "hunter2"],
  ])("strikes out %s", (_what, line, secret) => {
    expect(redact(line)).not.toContain(secret);
  });

  it.each([
    "listening on http://127.0.0.1:7700",
    '{"level":30,"device":"01a17453-7c1e-7d3b-8a52-0123456789ab","msg":"revoked"}',
    '{"code":"ENOSPC","exit_code":1}',
  ])("leaves %j alone", (line) => {
    expect(redact(line)).toBe(line);
  });

  it("leaves a line of JSON a line of JSON", () => {
    const line = JSON.stringify({ err: 'Authorization: "Bearer x.y" and /a?b="c"', token: "spm_x" });
    expect(() => JSON.parse(redact(line))).not.toThrow();
  });
});
