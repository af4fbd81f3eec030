import { PassThrough } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { acpLimits } from "../../../../src/engine/runtimes/acp/acp-limits.ts";
import { createMessageStream } from "../../../../src/engine/runtimes/acp/message-stream.ts";

function open() {
  const input = new PassThrough();
  const output = new PassThrough();
  const heard: { method: string; params: unknown; bytes: number }[] = [];
  const broken: string[] = [];
  const messages = createMessageStream({
    input,
    output,
    onNotification: (method, params, bytes) => heard.push({ method, params, bytes }),
    onBroken: (problem) => broken.push(problem),
  });
  return { input, output, heard, broken, messages };
}
const line = (message: object) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;

describe("the messages of an ACP agent", () => {
  it("are heard whole however they are cut into pieces, a byte at a time too", async () => {
    const { output, heard } = open();
    const text = "öäü\u{1f600} ".repeat(2_000);
    const bytes = Buffer.from(line({ method: "session/update", params: { text } }).repeat(2));
    for (let at = 0; at < bytes.length; at += 1) output.write(bytes.subarray(at, at + 1));
    await turn();
    expect(heard.map(({ params }) => params)).toEqual([{ text }, { text }]);
    expect(heard[0]?.bytes).toBe(bytes.length / 2 - 1);
  });

  it.each([1, 3, 65_537])(
    "are heard in pieces of %i bytes, with empty lines and line ends of other systems",
    async (size) => {
      const { output, heard } = open();
      const bytes = Buffer.from(
        `\n\r\n${line({ method: "a", params: 1 }).replace("\n", "\r\n")}\n${line({ method: "b", params: "x".repeat(70_000) })}`,
      );
      for (let at = 0; at < bytes.length; at += size) output.write(bytes.subarray(at, at + size));
      await turn();
      expect(heard.map(({ method }) => method)).toEqual(["a", "b"]);
    },
  );

  it("are heard one by one where they come as a batch, behind a byte order mark too", async () => {
    const { output, heard, broken } = open();
    const batch = ["a", "b"].map((method) => ({ jsonrpc: "2.0", method, params: 1 }));
    output.write(`\ufeff${JSON.stringify(batch)}\n[]\n`);
    await turn();
    expect(heard.map(({ method }) => method)).toEqual(["a", "b"]);
    expect(broken).toEqual([]);
  });

  it("attack: a batch of more than fits is no message", async () => {
    const { output, heard, broken } = open();
    const batch = Array.from({ length: 20_000 }, () => ({ jsonrpc: "2.0", method: "a" }));
    output.write(`${JSON.stringify(batch)}\n`);
    await turn();
    expect(heard).toEqual([]);
    expect(broken).toHaveLength(1);
  });

  it("attack: large requests that stay open: no more is read than fits, until some are answered", async () => {
    const { output, messages, broken } = open();
    const reader = messages.stream.readable.getReader();
    const writer = messages.stream.writable.getWriter();
    const request = (id: number) =>
      line({ id, method: "terminal/wait_for_exit", params: { junk: "x".repeat(4 * 1024 * 1024) } });
    const fits = Math.ceil(acpLimits.openRequestBytes / (4 * 1024 * 1024));
    for (let id = 1; id <= fits; id += 1) {
      output.write(request(id));
      await reader.read();
    }
    expect(output.isPaused()).toBe(true);
    for (let id = 1; id <= fits; id += 1) await writer.write({ jsonrpc: "2.0", id, result: null });
    expect(output.isPaused()).toBe(false);
    expect(broken).toEqual([]);
  });

  it("attack: many requests with one id are counted each", async () => {
    const { output, messages } = open();
    const reader = messages.stream.readable.getReader();
    const writer = messages.stream.writable.getWriter();
    const count = acpLimits.openRequests + 1;
    for (let at = 0; at < count; at += 1) {
      output.write(line({ id: 1, method: "fs/read_text_file", params: {} }));
      await reader.read();
    }
    expect(output.isPaused()).toBe(true);
    for (let at = 0; at < count; at += 1) await writer.write({ jsonrpc: "2.0", id: 1, result: {} });
    expect(output.isPaused()).toBe(false);
  });
});
