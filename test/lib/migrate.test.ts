import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type FileFormat, type JsonObject, migrate, migrateText } from "../../src/lib/migrate.ts";

/** Version 2 renamed `title` to `name`, version 3 put names into a list. */
const format: FileFormat = {
  version: 3,
  migrations: [
    ({ title, ...rest }) => ({ ...rest, name: title }),
    ({ name, ...rest }) => ({ ...rest, names: [(name as string).trim()] }),
  ],
};

describe("migrate", () => {
  it.each<[string, JsonObject]>([
    ["version 1", { version: 1, title: " api ", keep: 7 }],
    ["version 2", { version: 2, name: "api", keep: 7 }],
    ["the current version", { version: 3, names: ["api"], keep: 7 }],
  ])("brings %s to the current one, step by step, and loses no other field", (_title, old) => {
    expect(migrate(old, format)).toEqual({ ok: true, value: { version: 3, names: ["api"], keep: 7 } });
  });

  it("does not change the document that it was given", () => {
    const old = Object.freeze({ version: 1, title: "api" });
    migrate(old, format);
    expect(old).toEqual({ version: 1, title: "api" });
  });

  it("refuses what a newer version wrote, and says what to do", () => {
    expect(migrate({ version: 4 }, format)).toEqual({
      ok: false,
      problem: expect.stringMatching(/newer version of Sallyport.*format 4.*knows 3.*update Sallyport/),
    });
  });

  it.each([
    [null],
    ["text"],
    [[]],
    [{}],
    [{ version: "1" }],
    [{ version: 0 }],
    [{ version: -1 }],
    [{ version: 1.5 }],
  ])("refuses %j", (raw) => {
    expect(migrate(raw, format).ok).toBe(false);
  });

  it("refuses an old document that a migration stumbles over", () => {
    expect(migrate({ version: 2, name: 7 }, format)).toEqual({
      ok: false,
      problem: "it cannot be brought from format 2 to 3",
    });
  });

  it("refuses text that is not JSON, whatever it is", () => {
    expect(migrateText("{", format)).toEqual({ ok: false, problem: "it is not JSON" });
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(typeof migrateText(text, format).ok).toBe("boolean");
      }),
    );
  });

  it("is misused by a format that lacks a migration", () => {
    expect(() => migrate({ version: 1 }, { version: 2, migrations: [] })).toThrow(TypeError);
  });
});
