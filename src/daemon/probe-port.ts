import { timingSafeEqual } from "node:crypto";
import { Agent, request } from "node:http";
import { helloProof } from "../auth/master-token.ts";
import { randomSecret } from "../lib/ids.ts";

/** Who answers on a port: a daemon that knows our master token, or somebody else (or nobody). */
export type PortOwner = "ours" | "stranger";

const maxAnswerBytes = 16 * 1024;
// The global agent may be told by the environment to send through a proxy.
const directAgent = new Agent({ keepAlive: false });

/**
 * Asks whoever listens on a loopback port to prove that it knows the master token. It is sent a challenge and nothing
 * else: a stranger on the port gets no token.
 */
export async function whoAnswers(port: number, masterToken: string, timeoutMs: number): Promise<PortOwner> {
  const challenge = randomSecret(24);
  const hello = await askHello(port, challenge, timeoutMs).catch(() => null);
  if (typeof hello !== "object" || hello === null) return "stranger";
  const { proof } = hello as { proof?: unknown };
  if (typeof proof !== "string") return "stranger";
  const expected = Buffer.from(helloProof(masterToken, port, challenge));
  const given = Buffer.from(proof);
  return given.byteLength === expected.byteLength && timingSafeEqual(given, expected) ? "ours" : "stranger";
}

function askHello(port: number, challenge: string, timeoutMs: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: "127.0.0.1",
        port,
        path: `/api/hello?challenge=${challenge}`,
        agent: directAgent,
        signal: AbortSignal.timeout(timeoutMs),
      },
      (answer) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        answer.on("data", (chunk: Buffer) => {
          bytes += chunk.byteLength;
          if (bytes > maxAnswerBytes) outgoing.destroy(new Error("the answer is too large"));
          else chunks.push(chunk);
        });
        answer.on("error", reject);
        answer.on("end", () => {
          try {
            resolve(JSON.parse(Buffer.concat(chunks).toString("utf8")));
          } catch (error) {
            reject(error);
          }
        });
      },
    );
    outgoing.on("error", reject);
    outgoing.end();
  });
}
