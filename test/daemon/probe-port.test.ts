import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { helloProof } from "../../src/auth/master-token.ts";
import { whoAnswers } from "../../src/daemon/probe-port.ts";

const masterToken = `spm_${"a".repeat(43)}`;
const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  }
});

async function listen(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  servers.push(server);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

const challengeOf = (request: IncomingMessage) =>
  new URL(request.url ?? "/", "http://x").searchParams.get("challenge") ?? "";

describe("whoAnswers", () => {
  it("knows a daemon that has our token", async () => {
    const port = await listen((request, answer) => {
      answer.end(
        JSON.stringify({ app: "sallyport", proof: helloProof(masterToken, port, challengeOf(request)) }),
      );
    });
    expect(await whoAnswers(port, masterToken, 5_000)).toBe("ours");
  });

  it("a stranger on the port: is sent a challenge and no token in any form", async () => {
    const seen: string[] = [];
    const port = await listen((request, answer) => {
      seen.push(JSON.stringify([request.method, request.url, request.rawHeaders]));
      answer.end(JSON.stringify({ app: "sallyport", proof: challengeOf(request) }));
    });
    expect(await whoAnswers(port, masterToken, 5_000)).toBe("stranger");
    expect(seen).toHaveLength(1);
    expect(seen.join()).not.toContain(masterToken);
    expect(seen.join().toLowerCase()).not.toContain("authorization");
  });

  it("a stranger that passes the challenge on to our daemon on another port: the proof names the port", async () => {
    const ours = 1;
    const port = await listen((request, answer) => {
      answer.end(JSON.stringify({ proof: helloProof(masterToken, ours, challengeOf(request)) }));
    });
    expect(await whoAnswers(port, masterToken, 5_000)).toBe("stranger");
  });

  it.each([
    ["no JSON", (answer: { end(text: string): void }) => answer.end("hello")],
    ["a huge answer", (answer: { end(text: string): void }) => answer.end("x".repeat(1e6))],
    ["null", (answer: { end(text: string): void }) => answer.end("null")],
    ["a proof that is no text", (answer: { end(text: string): void }) => answer.end('{"proof":7}')],
  ])("takes %s for a stranger's", async (_what, reply) => {
    const port = await listen((_request, answer) => reply(answer));
    expect(await whoAnswers(port, masterToken, 5_000)).toBe("stranger");
  });

  it("does not wait for ever for one that says nothing", async () => {
    const port = await listen(() => undefined);
    expect(await whoAnswers(port, masterToken, 50)).toBe("stranger");
  });
});
