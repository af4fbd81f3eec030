import { describe, expect, it } from "vitest";
import { routeScopes } from "../../src/auth/scope-table.ts";
import { errorStatus } from "../../src/errors.ts";
import { coerceQuery } from "../../src/gateway/app-input.ts";
import type { Route } from "../../src/gateway/route.ts";
import { changeBodies, pushedSchemas } from "../../src/protocol/changes.ts";
import { closeCodes } from "../../src/protocol/close-codes.ts";
import { type CommandType, commandSchemas } from "../../src/protocol/commands.ts";
import { AgentEventSchema, agentEventBodies } from "../../src/protocol/events.ts";
import { mewClientSchemas, mewUnsupportedTypes } from "../../src/protocol/mew/client-messages.ts";
import { decodeClientText, decodeServerText } from "../../src/protocol/mew/codec.ts";
import { mewSeedSchemas, mewServerSchemas } from "../../src/protocol/mew/server-messages.ts";
import { mewProviderEventSchemas } from "../../src/protocol/mew/values.ts";
import { ErrorSchema } from "../../src/protocol/replies.ts";
import { allRoutes } from "../gateway/all-routes.ts";
import { judgePushed, problemWith, problemWithReply } from "../helpers/protocol-schemas.ts";
import type { Message } from "../helpers/socket.ts";
import { readRepoFile } from "./sources.ts";

const doc = readRepoFile("docs/protocol.md");

/** The lines of all blocks of a kind; an indented line belongs to the one above it. */
function linesOf(kind: string): string[] {
  return [...doc.matchAll(new RegExp(`\`\`\`json ${kind}\\n([\\s\\S]*?)\`\`\``, "g"))].flatMap((block) =>
    (block[1] ?? "").trim().split(/\n(?! )/),
  );
}
const samplesOf = (kind: string): Message[] => linesOf(kind).map((line) => JSON.parse(line));
const named = (samples: readonly Message[]) =>
  samples.map((sample) => [JSON.stringify(sample), sample] as const);
const typesOf = (samples: readonly Message[]) => new Set(samples.map((sample) => sample.type));

const commands = samplesOf("command");
const replies = samplesOf("reply");
const byRef = new Map<string, string>(commands.map((command) => [command.client_ref, command.type]));

describe("docs/protocol.md", () => {
  it("has a sample of every command", () => {
    expect(typesOf(commands)).toEqual(new Set(Object.keys(commandSchemas)));
  });

  it.each(named(commands))("shows a command that the schema accepts: %s", (_, sample) => {
    expect(problemWith(commandSchemas[sample.type as CommandType], sample)).toBeNull();
  });

  it("shows a reply to every command", () => {
    expect(new Set(byRef.keys()).size).toBe(commands.length);
    expect(new Set(replies.map((reply) => byRef.get(reply.client_ref)))).toEqual(typesOf(commands));
  });

  it.each(named(replies))("shows a reply that fits its command: %s", (_, sample) => {
    expect(problemWithReply(byRef.get(sample.client_ref) ?? "", sample)).toBeNull();
  });

  it("shows the whole snapshot, and what was missed", () => {
    const snapshots = samplesOf("snapshot");
    expect(snapshots.map((sample) => judgePushed(sample).problem)).toEqual([null, null]);
    expect(snapshots.map((sample) => "changes" in sample)).toEqual([false, true]);
  });

  it("shows every change and every message that is none, and all fit", () => {
    const changes = samplesOf("change");
    expect(typesOf(changes)).toEqual(new Set(Object.keys(changeBodies)));
    const pushed = samplesOf("push");
    expect(typesOf(pushed)).toEqual(new Set(Object.keys(pushedSchemas)));
    for (const sample of [...changes, ...pushed]) expect(judgePushed(sample).problem).toBeNull();
  });

  it("shows every event, and all fit", () => {
    const events = samplesOf("event");
    expect(typesOf(events)).toEqual(new Set(Object.keys(agentEventBodies)));
    for (const sample of events) {
      expect(problemWith(AgentEventSchema, sample)).toBeNull();
      expect(
        judgePushed({ type: "event", rev: 1, workspace: null, tab: null, event: sample }).problem,
      ).toBeNull();
    }
  });

  it("shows errors that fit, and lists every code and close code", () => {
    for (const sample of samplesOf("error")) expect(problemWith(ErrorSchema, sample)).toBeNull();
    const section = doc.slice(doc.indexOf("## Errors and close codes"), doc.indexOf("## Trying it"));
    const codes = [...section.matchAll(/`([a-z_]+)`/g)].map((match) => match[1] ?? "");
    expect(Object.keys(errorStatus).filter((code) => !codes.includes(code))).toEqual([]);
    const closes = [...section.matchAll(/^\| (\d{4}) \|/gm)].map((row) => Number(row[1]));
    expect(closes.sort()).toEqual(Object.values(closeCodes).sort());
  });

  it("lists every REST route", () => {
    const documented = [...doc.matchAll(/^\| `((?:GET|POST|PATCH|DELETE) \/api[^`?]*)/gm)].map((row) =>
      (row[1] ?? "").replace("{id}", ":id"),
    );
    const declared = Object.keys(routeScopes).filter((key) => !key.startsWith("SOCKET "));
    expect(documented.sort()).toEqual(declared.sort());
  });

  it("names only events that exist", () => {
    const section = doc.slice(doc.indexOf("### Events of an agent"), doc.indexOf("## Trying it"));
    const rows = [...section.matchAll(/^\| ((?:`[a-z_]+`(?:, )?)+) \| [^`]/gm)].flatMap((row) =>
      [...(row[1] ?? "").matchAll(/`([a-z_]+)`/g)].map((match) => match[1] ?? ""),
    );
    expect(rows.length).toBeGreaterThan(8);
    expect(rows.filter((name) => !(name in agentEventBodies))).toEqual([]);
  });
});

describe("the mew samples of docs/protocol.md", () => {
  const section = doc.slice(doc.indexOf("## The mew dialect"));
  const sent = linesOf("mew-client");
  const got = linesOf("mew-server");

  it.each(sent)("send what the decoder takes: %s", (line) => {
    expect(decodeClientText(line)).toMatchObject({ ok: true });
  });

  it.each(got)("show what a daemon sends: %s", (line) => {
    expect(decodeServerText(line)).not.toBeNull();
  });

  it("show every message, those of the document in its spelling", () => {
    const asked = sent.map(decodeClientText).flatMap((each) => (each.ok ? [each] : []));
    expect(new Set(asked.map(({ message }) => message.type))).toEqual(new Set(Object.keys(mewClientSchemas)));
    const told = got.map(decodeServerText).flatMap((each) => (each ? [each] : []));
    expect(new Set(told.map(({ message }) => message.type))).toEqual(new Set(Object.keys(mewServerSchemas)));
    const seed = told.filter(({ spelling }) => spelling === "camel");
    expect(new Set(seed.map(({ message }) => message.type))).toEqual(new Set(Object.keys(mewSeedSchemas)));
    const events = told.flatMap(({ message }) => (message.type === "provider" ? [message.event.type] : []));
    expect(new Set(events)).toEqual(new Set(Object.keys(mewProviderEventSchemas)));
  });

  it("name what is not supported", () => {
    for (const type of mewUnsupportedTypes) expect(section).toContain(`\`${type}\``);
  });
});

interface Exchange {
  readonly request: string;
  readonly route: Route | undefined;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** Null for 204. */
  readonly answer: unknown;
}

const { routes } = allRoutes();
const exchanges: readonly Exchange[] = linesOf("rest").flatMap((line, at, lines) => {
  const request = /^([A-Z]+) (\S+)(?: (.*))?$/.exec(line);
  if (!request) return [];
  const [, method, target = "", rawBody] = request;
  const url = new URL(target, "http://localhost");
  const answer = lines[at + 1] ?? "";
  return {
    request: `${method} ${url.pathname}`,
    route: routes.find((each) => each.method === method && fits(each.path, url.pathname)),
    query: Object.fromEntries(url.searchParams),
    body: rawBody === undefined ? null : JSON.parse(rawBody),
    answer: answer === "204" ? null : JSON.parse(answer),
  };
});

/** An id in a sample is a UUID or a job's eight digits. */
function fits(path: string, pathname: string): boolean {
  return new RegExp(`^${path.replace(":id", "[0-9a-f-]{8,36}")}$`).test(pathname);
}

describe("the REST samples of docs/protocol.md", () => {
  it("show every route", () => {
    expect(new Set(exchanges.map(({ route }) => route))).toEqual(new Set(routes));
  });

  it.each(exchanges.map((exchange) => [exchange.request, exchange] as const))(
    "send and answer what the schemas allow: %s",
    (_, { route, query, body, answer }) => {
      if (!route) throw new Error("no such route");
      if (route.query) expect(problemWith(route.query, coerceQuery(query, route.query))).toBeNull();
      else expect(query).toEqual({});
      if (route.body) expect(problemWith(route.bodyDetails ?? route.body, body ?? {})).toBeNull();
      else expect(body).toBeNull();
      if (route.response) expect(problemWith(route.response, answer)).toBeNull();
      else expect(answer).toBeNull();
    },
  );
});
