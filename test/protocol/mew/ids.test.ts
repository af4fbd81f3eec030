import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readUuid, sessionIdOf, ulidOf } from "../../../src/protocol/mew/ids.ts";

const uuid = fc.uuid();

describe("ids of the mew dialect", () => {
  it("gives back the UUID of every form that a client may send, in any letter case", () => {
    fc.assert(
      fc.property(uuid, (id) => {
        const forms = [id, ulidOf(id), sessionIdOf(id), `sess_${id}`];
        for (const form of forms) expect(readUuid(form)).toBe(id);
        expect(readUuid(ulidOf(id).toLowerCase())).toBe(id);
        expect(readUuid(id.toUpperCase())).toBe(id);
      }),
    );
  });

  it("writes 26 characters of Crockford base32, in the order of the UUIDs", () => {
    fc.assert(
      fc.property(uuid, uuid, (a, b) => {
        expect(ulidOf(a)).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
        expect(ulidOf(a) < ulidOf(b)).toBe(a < b);
      }),
    );
  });

  it.each([
    ["00000000-0000-0000-0000-000000000000", "00000000000000000000000000"],
    ["ffffffff-ffff-ffff-ffff-ffffffffffff", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"],
    ["0199388f-0000-7000-8000-000000000001", "01K4W8Y000E008000000000001"],
  ])("writes %s as %s", (id, ulid) => {
    expect(ulidOf(id)).toBe(ulid);
  });

  it.each([
    ["", "nothing"],
    ["sess_", "a prefix alone"],
    ["8ZZZZZZZZZZZZZZZZZZZZZZZZZ", "more than 128 bits"],
    ["01K4Z0Q8M7D3T5V9X1B2C3D4EU", "a letter that the alphabet lacks"],
    ["01K4Z0Q8M7D3T5V9X1B2C3D4E", "25 characters"],
    ["sess_sess_01K4Z0Q8M7D3T5V9X1B2C3D4E5", "two prefixes"],
    ["SESS_01K4Z0Q8M7D3T5V9X1B2C3D4E5", "another prefix"],
    ["../../../../etc/passwd", "a path"],
    ["0199388f-0000-7000-8000-00000000000g", "a letter that is no digit"],
    ["x".repeat(1_000_000), "a megabyte"],
  ])("reads no id in %#: %s", (raw) => {
    expect(readUuid(raw)).toBeNull();
  });

  it("never throws on any text", () => {
    fc.assert(
      fc.property(fc.string(), (raw) => {
        const read = readUuid(raw);
        expect(read === null || readUuid(ulidOf(read)) === read).toBe(true);
      }),
    );
  });

  it("does not make an id of what is no UUID", () => {
    expect(() => ulidOf("sess_1")).toThrow(TypeError);
  });
});
