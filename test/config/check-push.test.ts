import { describe, expect, it } from "vitest";
import { parseConfig } from "../../src/config/parse-config.ts";

const parse = (contact: string) =>
  parseConfig(`[push]\ncontact = ${JSON.stringify(contact)}\n`, { path: "config.toml", userHome: "/home/x" });

describe("push.contact", () => {
  it.each(["mailto:me@box.example", "https://me.example/contact", "mailto:a.b+c@mail.box.example"])(
    "takes %s",
    (contact) => {
      expect(parse(contact).push.contact).toBe(contact);
    },
  );

  it.each([
    ["me@box.example", "must be"],
    ["mailto: me@box.example", "must be"],
    ["mailto:me", "must be"],
    ["http://me.example", "must be"],
    ["https://", "must be"],
    ["mailto:me@localhost", "host of the internet"],
    ["mailto:me@box.local", "host of the internet"],
    ["https://push.invalid/x", "host of the internet"],
  ])("refuses %j, which push services would refuse with every message", (contact, reason) => {
    expect(() => parse(contact)).toThrow(reason);
  });
});
