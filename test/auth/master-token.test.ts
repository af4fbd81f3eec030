import { describe, expect, it } from "vitest";
import {
  helloProof,
  newMasterToken,
  parseFixedMasterToken,
  parseMasterTokenFile,
} from "../../src/auth/master-token.ts";

describe("parseMasterTokenFile", () => {
  const token = newMasterToken();

  it.each([token, `${token}\n`, `${token}\r\n`])("takes a whole token, with or without a newline", (text) => {
    expect(parseMasterTokenFile(text)).toBe(token);
  });

  it.each([
    "",
    "\n",
    " ",
    token.slice(0, -1),
    `${token}x`,
    `${token}\n\n`,
    ` ${token}`,
    "\0".repeat(47),
    "spm_",
  ])("damaged: takes %j for no token", (text) => {
    expect(parseMasterTokenFile(text)).toBeNull();
  });
});

describe("parseFixedMasterToken", () => {
  it.each([
    ["", /SALLYPORT_TOKEN is set but empty.*no way to run without a token/],
    ["   ", /empty/],
    ["\n", /empty/],
    ["x".repeat(31), /31 characters; a token needs at least 32/],
    [`${"x".repeat(16)} ${"x".repeat(16)}`, /printable ASCII/],
    [`${"x".repeat(40)}é`, /printable ASCII/],
    [`${"x".repeat(40)}\u0000`, /printable ASCII/],
    ["x".repeat(1_025), /longer than 1024/],
  ])("refuses %j with a text that says why", (rawToken, message) => {
    expect(() => parseFixedMasterToken(rawToken, "SALLYPORT_TOKEN")).toThrow(message);
  });

  it("takes 32 characters, and a newline at the end of a file", () => {
    expect(parseFixedMasterToken(`${"x".repeat(32)}\n`, "token file")).toBe("x".repeat(32));
  });

  it("never repeats the value in its error", () => {
    expect(() => parseFixedMasterToken("hunter2", "SALLYPORT_TOKEN")).not.toThrow(/hunter2/);
  });
});

describe("helloProof", () => {
  it("is the documented HMAC, and another one for another port, challenge or token", () => {
    const proof = helloProof("t".repeat(40), 7700, "c".repeat(16));
    expect(proof).toBe("1PO9Du-MtXlrbSpob0vYRgGaN4YRWJVTJhqxofTUDFU");
    expect(
      new Set([
        proof,
        helloProof("t".repeat(40), 7701, "c".repeat(16)),
        helloProof("u".repeat(40), 7700, "c".repeat(16)),
        helloProof("t".repeat(40), 7700, "d".repeat(16)),
      ]).size,
    ).toBe(4);
  });
});
