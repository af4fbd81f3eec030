import { describe, expect, it } from "vitest";
import { errorStatus } from "../../src/errors.ts";
import { closeCodes } from "../../src/protocol/close-codes.ts";
import { readRepoFile } from "./sources.ts";

const doc = readRepoFile("docs/errors.md");

describe("docs/errors.md", () => {
  it("lists every error code with its status, and no other", () => {
    const documented = Object.fromEntries(
      [...doc.matchAll(/^\| `([a-z_]+)` \| (\d{3}) \|/gm)].map((row) => [row[1], Number(row[2])]),
    );
    expect(documented).toEqual(errorStatus);
  });

  it("lists every close code, and no other", () => {
    const documented = [...doc.matchAll(/^\| (\d{4}) \|/gm)].map((row) => Number(row[1])).sort();
    expect(documented).toEqual(Object.values(closeCodes).sort());
  });
});
