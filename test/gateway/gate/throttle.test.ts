import { describe, expect, it } from "vitest";
import { exchange, rawRequest } from "./raw-client.ts";
import { deviceToken, startGate } from "./start-gate.ts";

const host = "Host: localhost";
const device = `Authorization: Bearer ${deviceToken}`;

describe("the throttle", () => {
  it("refuses the 21st wrong token of an address with 429, and still lets a right one in", async () => {
    const gate = await startGate();
    const ask = (line: string, ...headers: string[]) =>
      exchange({ port: gate.port }, rawRequest(line, [host, ...headers]));
    const answers: number[] = [];
    for (let index = 0; index < 22; index++)
      answers.push((await ask("GET /api/daemon", `Authorization: Bearer wrong-${index}`)).status);
    expect(answers).toEqual([...Array<number>(20).fill(401), 429, 429]);
    const limited = await ask("GET /api/nothing", "Authorization: Bearer wrong");
    expect(limited.code).toBe("rate_limited");
    expect(limited.headers["retry-after"]).toMatch(/^([1-9]|[1-5]\d|60)$/);
    expect(JSON.parse(limited.body)).toMatchObject({ retry_after: Number(limited.headers["retry-after"]) });
    expect((await ask("GET /api/daemon", device)).status).toBe(200);
    expect((await ask("GET /api/hello")).status).toBe(200);
    await gate.close();
  });

  it("neither counts POST /api/pair nor lets failures stand in its way", async () => {
    const gate = await startGate();
    const ask = (line: string, ...headers: string[]) =>
      exchange({ port: gate.port }, rawRequest(line, [host, ...headers]));
    for (let index = 0; index < 130; index++) await ask("GET /api/hello");
    expect((await ask("GET /api/hello")).status).toBe(429);
    for (let index = 0; index < 130; index++)
      expect((await ask("POST /api/pair", "Content-Length: 0")).status).toBe(200);
    await gate.close();
  });

  it("flood of this machine's hellos: our own clients still learn who answers, others do not", async () => {
    const gate = await startGate({ initialAccess: "on" });
    const ask = async (line: string, ...headers: string[]) =>
      (await exchange({ port: gate.port }, rawRequest(line, headers))).status;
    for (let index = 0; index < 121; index++) await ask("GET /api/hello", host);
    expect(await ask("GET /api/hello", host)).toBe(429);
    expect(await ask("GET /api/hello?nochallenge=0123456789abcdef", host)).toBe(429);
    expect(await ask("GET /api/hello?challenge=0123456789abcdef", host)).toBe(200);
    for (let index = 0; index < 121; index++)
      await ask("GET /api/hello?challenge=0123456789abcdef", "Host: 192.0.2.1");
    expect(await ask("GET /api/hello?challenge=0123456789abcdef", "Host: 192.0.2.1")).toBe(429);
    await gate.close();
  });

  it("a page that is loaded again and again does not lose its script", async () => {
    const gate = await startGate();
    const ask = async (line: string) =>
      (await exchange({ port: gate.port }, rawRequest(line, [host]))).status;
    for (let index = 0; index < 121; index++) await ask("GET /");
    expect([await ask("GET /"), await ask("GET /app.js")]).toEqual([429, 200]);
    await gate.close();
  });

  it("counts no forged address, and gives a verifier that is overloaded its own answer", async () => {
    const { SallyportError } = await import("../../../src/errors.ts");
    const gate = await startGate({
      initialAccess: "on",
      verifyCredential: (raw) =>
        raw.kind === "token" && raw.rawToken === "busy"
          ? Promise.reject(new SallyportError("overloaded", "Busy.", { retryAfterSeconds: 2 }))
          : null,
    });
    let limited = 0;
    for (let index = 0; index < 25; index++) {
      const answer = await exchange(
        { port: gate.port },
        rawRequest("GET /api/daemon", [
          "Host: devbox",
          `X-Forwarded-For: 8.8.8.${index}`,
          "Authorization: Bearer x",
        ]),
      );
      if (answer.status === 429) limited += 1;
    }
    expect(limited).toBe(5);
    const busy = await exchange(
      { port: gate.port },
      rawRequest("GET /api/daemon", [host, "Authorization: Bearer busy"]),
    );
    expect([busy.status, busy.code, busy.headers["retry-after"]]).toEqual([503, "overloaded", "2"]);
    await gate.close();
  });
});
