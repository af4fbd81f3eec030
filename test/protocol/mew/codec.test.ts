import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type MewClientType,
  mewClientSchemas,
  mewUnsupportedTypes,
} from "../../../src/protocol/mew/client-messages.ts";
import {
  decodeClientMessage,
  decodeClientText,
  decodeServerText,
  encodeClientMessage,
  encodeServerMessage,
} from "../../../src/protocol/mew/codec.ts";
import type { MewServerMessage } from "../../../src/protocol/mew/server-messages.ts";
import { toCamel } from "../../../src/protocol/mew/spelling.ts";
import { clientSamples, providerSamples, serverSamples } from "./samples.ts";

const spellings = ["camel", "snake"] as const;

describe("client messages", () => {
  const rows = Object.values(clientSamples).flatMap((message) =>
    spellings.map((spelling) => [message.type, spelling, message] as const),
  );
  it.each(rows)("round-trips %s in %s", (_, spelling, message) => {
    expect(decodeClientText(encodeClientMessage(message, spelling))).toEqual({ ok: true, message, spelling });
  });

  it.each([
    [{ type: "NewSession" }, { type: "new_session", client_kind: "unknown" }],
    [
      { type: "new_session", cwd: null },
      { type: "new_session", client_kind: "unknown" },
    ],
    [
      { type: "prompt", text: "x" },
      { type: "prompt", text: "x", attachments: [] },
    ],
    [
      { type: "Prompt", text: "x", attachments: null },
      { type: "prompt", text: "x", attachments: [] },
    ],
    [
      { type: "AttachSession", session_id: "s", client_kind: null },
      { type: "attach_session", session_id: "s", client_kind: "unknown" },
    ],
    [
      { type: "AskUserResponse", request_id: "r", answers: null, cancelled: null },
      { type: "ask_user_response", request_id: "r", answers: [], cancelled: false },
    ],
    [
      { type: "load_session_history", session_id: "s", before: 1, limit: null },
      { type: "load_session_history", session_id: "s", before: 1, limit: 24 },
    ],
    [
      { type: "Prompt", text: "x", attachments: [{ path: "a", mime: null, junk: 1 }] },
      { type: "prompt", text: "x", attachments: [{ path: "a" }] },
    ],
    [
      { type: "AskUserResponse", request_id: "r", answers: ["a"] },
      { type: "ask_user_response", request_id: "r", answers: ["a"], cancelled: false },
    ],
    [
      { type: "ask_user_response", request_id: "r", cancelled: true },
      { type: "ask_user_response", request_id: "r", answers: [], cancelled: true },
    ],
    [
      { type: "PermissionResponse", request_id: "r", decision: "AllowOnce" },
      { type: "permission_response", request_id: "r", decision: "allow_once" },
    ],
    [
      { type: "attach_session", session_id: "s", client_kind: "Web" },
      { type: "attach_session", session_id: "s", client_kind: "web" },
    ],
    [{ type: "ping", constructor: 1, extra: { deep: [] } }, { type: "ping" }],
    [
      { type: "load_session_history", session_id: "s", before: 0 },
      { type: "load_session_history", session_id: "s", before: 0, limit: 24 },
    ],
    [
      { type: "ReadJobOutput", session_id: "s", job_id: "j", request_id: "r", offset: -1 },
      { type: "read_job_output", session_id: "s", job_id: "j", request_id: "r", offset: -1 },
    ],
  ])("reads %j with its defaults, without what is unknown", (raw, message) => {
    expect(decodeClientMessage(raw)).toMatchObject({ ok: true, message });
    expect(decodeClientMessage(raw)).toHaveProperty("message", message);
  });

  it.each([
    [null, null, "JSON object"],
    [[], null, "JSON object"],
    ["ping", null, "JSON object"],
    [{}, null, '"type" is missing'],
    [{ type: 7 }, null, '"type" is missing'],
    [{ type: "" }, null, "does not exist"],
    [{ type: "new_Session" }, null, "does not exist"],
    [{ type: "Frobnicate" }, "camel", "does not exist"],
    [{ type: "frobnicate" }, "snake", "does not exist"],
    [{ type: "__proto__" }, null, "does not exist"],
    [{ type: "constructor" }, "snake", "does not exist"],
    [{ type: "HasOwnProperty" }, "camel", "does not exist"],
    [{ type: "session_ready", session_id: "s" }, "snake", "does not exist"],
    [{ type: "prompt" }, "snake", '"text" is missing'],
    [{ type: "Prompt", text: 5 }, "camel", '"text"'],
    [{ type: "prompt", text: null }, "snake", '"text"'],
    [{ type: "prompt", text: "x", attachments: "a" }, "snake", '"attachments"'],
    [{ type: "prompt", text: "x", attachments: [{}] }, "snake", "path"],
    [{ type: "prompt", text: "x", attachments: ["a"] }, "snake", '"attachments.0"'],
    [{ type: "prompt", text: "x", attachments: Array(65).fill({ path: "a" }) }, "snake", '"attachments"'],
    [{ type: "prompt", text: "x".repeat(1024 * 1024 + 1) }, "snake", '"text"'],
    [{ type: "permission_response", request_id: "r", decision: "always" }, "snake", '"decision"'],
    [{ type: "permission_response", request_id: "r" }, "snake", '"decision" is missing'],
    [{ type: "permission_response", decision: "deny" }, "snake", '"request_id" is missing'],
    [{ type: "new_session", client_kind: "fridge" }, "snake", '"client_kind"'],
    [{ type: "ask_user_response", request_id: "r", answers: [1] }, "snake", '"answers.0"'],
    [
      { type: "ReadJobOutput", session_id: "s", job_id: "j", request_id: "r", offset: 1.5 },
      "camel",
      '"offset"',
    ],
    [
      { type: "ReadJobOutput", session_id: "s", job_id: "j", request_id: "r", offset: "0" },
      "camel",
      '"offset"',
    ],
    [{ type: "ReadJobOutput", session_id: "s", job_id: "j", offset: 0 }, "camel", '"request_id" is missing'],
    [{ type: "set_auto_title", enabled: "yes" }, "snake", '"enabled"'],
  ])("refuses %j in a sentence, and tells the spelling", (raw, spelling, words) => {
    const decoded = decodeClientMessage(raw);
    expect(decoded).toMatchObject({ ok: false, spelling, problem: expect.stringContaining(words) });
    expect(decoded).toMatchObject({ problem: expect.stringMatching(/^invalid message: /) });
  });

  it("keeps the identities of what it refuses, so that the answer can be scoped", () => {
    const raw = { type: "ReadJobOutput", session_id: "s", job_id: "j", request_id: "r", offset: "zero" };
    expect(decodeClientMessage(raw)).toMatchObject({
      ok: false,
      type: "read_job_output",
      ids: { session_id: "s", job_id: "j", request_id: "r" },
    });
    const long = { type: "SubmitPrompt", session_id: "s".repeat(500), request_id: 9, text: "x" };
    expect(decodeClientMessage(long)).toMatchObject({ ok: false, type: "submit_prompt", ids: {} });
  });

  it.each([...mewUnsupportedTypes])("says of %s that it is not supported, in both spellings", (type) => {
    expect(decodeClientMessage({ type })).toMatchObject({
      ok: false,
      spelling: "snake",
      problem: expect.stringContaining("not supported"),
    });
    expect(decodeClientMessage({ type: toCamel(type) })).toMatchObject({ ok: false, spelling: "camel" });
  });

  it("repeats nothing of what was sent", () => {
    const secret = "spd_not_for_the_log";
    const raws = [
      { type: secret },
      { type: "prompt", text: { [secret]: secret } },
      { type: "new_session", client_kind: secret },
    ];
    for (const raw of raws) expect(JSON.stringify(decodeClientMessage(raw))).not.toContain(secret);
  });
});

describe("fuzzing the decoder", () => {
  const types = fc.constantFrom(
    ...Object.keys(mewClientSchemas),
    ...Object.keys(mewClientSchemas).map(toCamel),
    ...mewUnsupportedTypes,
    "__proto__",
  );
  const fields = fc.constantFrom(
    ...new Set(Object.values(mewClientSchemas).flatMap((schema) => Object.keys(schema.properties))),
  );

  function judge(decoded: ReturnType<typeof decodeClientMessage>): void {
    if (decoded.ok) {
      const again = decodeClientText(encodeClientMessage(decoded.message, decoded.spelling));
      expect(again).toEqual(decoded);
      expect(Object.keys(mewClientSchemas)).toContain(decoded.message.type);
    } else expect(decoded.problem.length).toBeLessThan(300);
  }

  it("gives a value for any text", () => {
    fc.assert(fc.property(fc.string(), (text) => judge(decodeClientText(text))));
    fc.assert(fc.property(fc.json(), (text) => judge(decodeClientText(text))));
  });

  it("gives a value for any JSON under any known type", () => {
    const raw = fc
      .tuple(types, fc.dictionary(fields, fc.jsonValue()))
      .map(([type, rest]) => ({ ...rest, type }));
    fc.assert(
      fc.property(raw, (value) => judge(decodeClientMessage(value))),
      { numRuns: 2_000 },
    );
  });

  it("gives a value for a good message with one field changed", () => {
    const samples = fc.constantFrom(...Object.values(clientSamples));
    fc.assert(
      fc.property(
        samples,
        fields,
        fc.jsonValue(),
        fc.constantFrom(...spellings),
        (sample, field, value, spelling) => {
          const raw = JSON.parse(encodeClientMessage(sample, spelling));
          judge(decodeClientMessage(field === "type" ? raw : { ...raw, [field]: value }));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ["[".repeat(1_000_000), "a million brackets"],
    [`{"type":"prompt","text":${"[".repeat(200_000)}${"]".repeat(200_000)}}`, "depth"],
    ["{", "half an object"],
    ["\u0000", "a NUL"],
    ["nul", "half a word"],
  ])("refuses %#: %s", (text) => {
    expect(decodeClientText(text)).toMatchObject({ ok: false });
  });

  it("looks at a few elements of an array that has millions", () => {
    const attachments = Array.from({ length: 1_000_000 }, () => ({ path: "a" }));
    expect(decodeClientMessage({ type: "prompt", text: "x", attachments })).toMatchObject({ ok: false });
  });
});

describe("server messages", () => {
  const messages: readonly MewServerMessage[] = [
    ...Object.values(serverSamples),
    ...providerSamples.map((event): MewServerMessage => ({ type: "provider", event })),
  ];
  const rows = messages.flatMap((message) =>
    spellings.map((spelling) => [message.type, spelling, message] as const),
  );
  it.each(rows)("round-trips %s in %s", (type, spelling, message) => {
    const text = encodeServerMessage(message, spelling);
    expect(JSON.parse(text).type).toBe(spelling === "camel" ? toCamel(type) : type);
    expect(decodeServerText(text)).toEqual({ ok: true, message, spelling });
  });

  it("writes the tag first, and the event's tag in the same spelling, and nothing else", () => {
    const message: MewServerMessage = {
      type: "provider",
      event: { type: "part_start", part: { type: "tool_call" } as never },
    };
    expect(encodeServerMessage(message, "camel")).toBe(
      '{"type":"Provider","event":{"type":"PartStart","part":{"type":"tool_call"}}}',
    );
    expect(encodeServerMessage(serverSamples.pong, "camel")).toBe(
      '{"type":"Pong","version":"1.0.0","protocol_version":3}',
    );
  });

  it("reads nothing in what no daemon sends", () => {
    const texts = ["", "{}", '{"type":"Nope"}', '{"type":"pong"}', '{"type":"provider","event":null}', "[1]"];
    for (const text of texts) expect(decodeServerText(text)).toBeNull();
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(serverSamples)), fc.object(), (type, rest) => {
        decodeServerText(JSON.stringify({ ...rest, type }));
      }),
    );
  });

  it("knows a client's every type, and no more", () => {
    const known: readonly MewClientType[] = Object.values(clientSamples).map(({ type }) => type);
    expect(new Set(known)).toEqual(new Set(Object.keys(mewClientSchemas)));
  });
});
