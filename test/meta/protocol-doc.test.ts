import { Compile } from "typebox/compile";
import { describe, expect, it } from "vitest";
import { routeScopes } from "../../src/auth/scope-table.ts";
import { type CommandType, commandSchemas } from "../../src/protocol/commands.ts";
import { agentEventBodies } from "../../src/protocol/events.ts";
import { readRepoFile } from "./sources.ts";

const doc = readRepoFile("docs/protocol.md");
const commandSamples = [...doc.matchAll(/```json command\n([\s\S]*?)```/g)]
  .flatMap((block) => (block[1] ?? "").trim().split("\n"))
  .map((line) => JSON.parse(line) as { readonly type: CommandType });

describe("docs/protocol.md", () => {
  it("has a sample of every command", () => {
    expect(new Set(commandSamples.map((sample) => sample.type))).toEqual(
      new Set(Object.keys(commandSchemas)),
    );
  });

  it.each(commandSamples.map((sample) => [JSON.stringify(sample), sample] as const))(
    "shows a command that the schema accepts: %s",
    (_, sample) => {
      expect(Compile(commandSchemas[sample.type]).Check(sample)).toBe(true);
    },
  );

  it("lists every REST route", () => {
    const documented = [...doc.matchAll(/^\| `((?:GET|POST|PATCH|DELETE) \/api[^`?]*)/gm)].map((row) =>
      (row[1] ?? "").replace("{id}", ":id"),
    );
    const declared = Object.keys(routeScopes).filter((key) => !key.startsWith("SOCKET "));
    expect(documented.sort()).toEqual(declared.sort());
  });

  it("names only events that exist", () => {
    const section = doc.slice(doc.indexOf("### Events of an agent"), doc.indexOf("## Trying it"));
    const named = [...section.matchAll(/^\| ((?:`[a-z_]+`(?:, )?)+) \|/gm)].flatMap((row) =>
      [...(row[1] ?? "").matchAll(/`([a-z_]+)`/g)].map((match) => match[1] ?? ""),
    );
    expect(named.length).toBeGreaterThan(8);
    expect(named.filter((name) => !(name in agentEventBodies))).toEqual([]);
  });
});
