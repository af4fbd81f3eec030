import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { extractCredential } from "../../src/auth/credential.ts";
import { readHeaders } from "../../src/auth/read-headers.ts";

function extract(headers: readonly string[], rawQuery: string) {
  return extractCredential(readHeaders(headers), rawQuery);
}

const bearer = ["Authorization", "Bearer spd_abc"];

describe("extractCredential", () => {
  it.each([
    [[], "", { kind: "none" }, ""],
    [bearer, "", { kind: "token", rawToken: "spd_abc" }, ""],
    [["authorization", "bearer  spd_abc "], "a=1", { kind: "token", rawToken: "spd_abc" }, "a=1"],
    [[], "token=spd_abc", { kind: "token", rawToken: "spd_abc" }, ""],
    [[], "a=1&token=spd_abc&b=%20", { kind: "token", rawToken: "spd_abc" }, "a=1&b=%20"],
    [[], "tok%65n=spd%5Fabc", { kind: "token", rawToken: "spd_abc" }, ""],
    [[], "version=1&ticket=spt_x", { kind: "ticket", rawTicket: "spt_x" }, "version=1"],
    [[], "TOKEN=x&tokens=y&mytoken=z", { kind: "none" }, "TOKEN=x&tokens=y&mytoken=z"],
    [[], "token=", { kind: "unreadable" }, ""],
    [[], "token", { kind: "unreadable" }, ""],
    [[], "token=a+b", { kind: "unreadable" }, ""],
    [["Authorization", "Basic YTpi"], "", { kind: "unreadable" }, ""],
    [["Authorization", ""], "", { kind: "unreadable" }, ""],
    [["Authorization", "Bearer"], "", { kind: "unreadable" }, ""],
    [["Authorization", "Bearer a b"], "", { kind: "unreadable" }, ""],
    [["Authorization", "Bearer a\tb"], "", { kind: "unreadable" }, ""],
  ])("reads %j with ?%s", (headers, rawQuery, credential, left) => {
    expect(extract(headers, rawQuery)).toEqual({ credential, rawQuery: left });
  });

  it.each([
    [[...bearer, ...bearer], ""],
    [bearer, "token=spd_abc"],
    [bearer, "ticket=x"],
    [["Authorization", ""], "token="],
    [[], "token=a&token=a"],
    [[], "token=a&t%6fken=a"],
    [[], "token=a&ticket=b"],
    [[], "ticket=a&ticket=a"],
  ])("refuses two credentials: %j with ?%s", (headers, rawQuery) => {
    const { credential } = extract(headers, rawQuery);
    expect(credential.kind === "refused" && credential.refusal.code).toBe("bad_request");
  });

  it("reads a token of 1,024 characters and not one of 1,025", () => {
    for (const [length, kind] of [
      [1_024, "token"],
      [1_025, "unreadable"],
      [10_240, "unreadable"],
    ] as const) {
      expect(extract(["Authorization", `Bearer ${"a".repeat(length)}`], "").credential.kind).toBe(kind);
      expect(extract([], `token=${"a".repeat(length)}`).credential.kind).toBe(kind);
    }
  });

  it("leaves no token or ticket in the query that handlers and logs see, as a form decoder reads it", () => {
    const pair = fc.tuple(
      fc.constantFrom("token", "t%6Fken", "ticket", "a", "to+ken", "%74icket"),
      fc.stringMatching(/^[a-z%20=]{0,6}$/),
    );
    fc.assert(
      fc.property(fc.array(pair, { maxLength: 5 }), (pairs) => {
        const rawQuery = pairs.map(([name, value]) => `${name}=${value.replaceAll("%", "%25")}`).join("&");
        const left = new URLSearchParams(extract([], rawQuery).rawQuery);
        return !left.has("token") && !left.has("ticket");
      }),
    );
  });
});
