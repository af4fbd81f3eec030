import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type FakeAnswer, homeWith, refusal, type SeenRequest, startFakeDaemon } from "./fake-daemon.ts";
import { cli, startCli } from "./fake-io.ts";

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0)) await step();
});

const hello = { app: "sallyport", version: "1.0.0", remote: true, pairing: true, protocols: ["native/1"] };
const paired = {
  token: "spd_secret-token",
  device: {
    id: "d1",
    name: "laptop",
    kind: "cli",
    scopes: ["view", "drive"],
    created: "2026-01-01T00:00:00.000Z",
    expires: null,
  },
  version: "1.0.0",
};

type Answer = (request: SeenRequest) => FakeAnswer | null;

function pairing(more: Answer = () => null): Answer {
  return (request) => {
    const own = more(request);
    if (own) return own;
    if (request.path === "/api/hello") return { body: hello };
    if (request.path === "/api/pair") return { body: paired };
    return null;
  };
}

async function start(answer: Answer = pairing()) {
  const daemon = await startFakeDaemon({ answer });
  const { home, remove } = await homeWith(null);
  undo.push(daemon.close, remove);
  return { daemon, home, add: (...words: string[]) => cli(["connect", "add", ...words], { home }) };
}

describe("sallyport connect add", () => {
  it("pairs by --pair, keeps the token in a file of its own and prints it nowhere", async () => {
    const { daemon, home, add } = await start();
    const ran = await add("box", daemon.url, "--pair", "ABCDE-FGHJK", "--as", "laptop", "--json");
    expect(ran.exitCode).toBe(0);
    expect(JSON.parse(ran.stdout)).toMatchObject({ name: "box", base: daemon.url, device: "d1" });
    expect(daemon.requests.at(-1)).toMatchObject({
      method: "POST",
      path: "/api/pair",
      authorization: null,
      body: { code: "ABCDE-FGHJK", name: "laptop", kind: "cli", nonce: expect.any(String) },
    });
    expect(await readFile(join(home, "remotes.json"), "utf8")).toContain("spd_secret-token");
    const list = await cli(["connect", "list", "--json"], { home });
    expect(ran.stdout + ran.stderr + list.stdout + list.stderr).not.toContain("spd_secret-token");
    expect(JSON.parse(list.stdout)).toMatchObject({ remotes: [{ name: "box" }] });
  });

  it("reads the code of a pairing link", async () => {
    const { daemon, add } = await start();
    expect((await add("box", `${daemon.url}/#pair=ABCDE-FGHJK`)).exitCode).toBe(0);
    expect(daemon.requests.at(-1)?.body).toMatchObject({ code: "ABCDE-FGHJK" });
  });

  it("asks for the code on a terminal", async () => {
    const { daemon, home } = await start();
    const running = startCli(["connect", "add", "box", daemon.url], { home, hasKeyboard: true });
    await running.shows("Pairing code");
    running.type("ABCDE-FGHJX\u007fK\r");
    expect((await running.done).exitCode).toBe(0);
    expect(daemon.requests.at(-1)?.body).toMatchObject({ code: "ABCDE-FGHJK" });
  });

  it("says how to give the code where nobody can type, and takes Ctrl-C for no", async () => {
    const { daemon, home, add } = await start();
    expect(await add("box", daemon.url)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("--pair"),
    });
    const running = startCli(["connect", "add", "box", daemon.url], { home, hasKeyboard: true });
    await running.shows("Pairing code");
    running.type("\u0003");
    expect((await running.done).exitCode).toBe(2);
    expect(daemon.requests.some(({ path }) => path === "/api/pair")).toBe(false);
  });

  it("repeats a claim whose reply was lost with the same nonce", async () => {
    let claims = 0;
    const { daemon, add } = await start(
      pairing(({ path }) => {
        if (path !== "/api/pair") return null;
        claims += 1;
        return claims === 1 ? { status: 503, body: refusal("overloaded", "Busy.") } : null;
      }),
    );
    expect((await add("box", daemon.url, "--pair", "ABCDE-FGHJK")).exitCode).toBe(0);
    const nonces = daemon.requests
      .filter(({ path }) => path === "/api/pair")
      .map(({ body }) => (body as { nonce: string }).nonce);
    expect(nonces).toHaveLength(2);
    expect(new Set(nonces).size).toBe(1);
  });

  it("warns that plain http can be read by the network, but not on this machine", async () => {
    const { daemon, add } = await start();
    expect((await add("box", daemon.url, "--pair", "ABCDE-FGHJK")).stderr).not.toContain("not encrypted");
    // A name that begins like a loopback address is none (bug class: prefix tests).
    const far = await add("far", "http://127.evil.invalid:1", "--pair", "ABCDE-FGHJK");
    expect(far).toMatchObject({ exitCode: 3, stderr: expect.stringContaining("is not encrypted") });
  });

  it.each([
    ["-x", "http://127.0.0.1:1"],
    ["a b", "http://127.0.0.1:1"],
    ["box", "127.0.0.1:7700"],
    ["box", "ws://127.evil.com:18789"],
    ["box", "http://user:secret@127.0.0.1:1"],
  ])("refuses %s %s as wrong usage and asks nobody", async (name, url) => {
    const { home, add } = await start();
    expect((await add("--", name, url)).exitCode).toBe(2);
    expect(JSON.parse((await cli(["connect", "list", "--json"], { home })).stdout)).toEqual({ remotes: [] });
  });

  it("refuses a name that is taken before the code is spent, and replaces with --replace", async () => {
    const { daemon, home, add } = await start();
    await add("box", daemon.url, "--pair", "ABCDE-FGHJK");
    const before = daemon.requests.length;
    expect(await add("box", daemon.url, "--pair", "ABCDE-FGHJK")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("--replace"),
    });
    expect(daemon.requests).toHaveLength(before);
    expect((await add("box", daemon.url, "--pair", "ABCDE-FGHJK", "--replace")).exitCode).toBe(0);
    const list = JSON.parse((await cli(["connect", "list", "--json"], { home })).stdout);
    expect(list.remotes).toHaveLength(1);
  });

  it.each<[string, Answer, number, RegExp]>([
    [
      "a wrong code",
      pairing(({ path }) =>
        path === "/api/pair" ? { status: 403, body: refusal("pairing_refused", "Wrong.") } : null,
      ),
      4,
      /Wrong\./,
    ],
    [
      "a locked daemon",
      pairing(({ path }) =>
        path === "/api/pair"
          ? { status: 429, body: refusal("pairing_locked", "Locked.", { retry_after: 540 }) }
          : null,
      ),
      4,
      /540 s/,
    ],
    [
      "a daemon with remote access off",
      () => ({ status: 403, body: refusal("remote_off", "Off.") }),
      4,
      /sallyport remote on/,
    ],
    ["another program", () => ({ body: { app: "grafana" } }), 3, /no Sallyport daemon/],
    [
      "a web server without such a page",
      () => ({ status: 404, body: refusal("not_found", "Hm.") }),
      3,
      /no Sallyport/,
    ],
  ])("%s: says so and keeps nothing", async (_name, answer, exitCode, says) => {
    const { daemon, home, add } = await start(answer);
    const ran = await add("box", daemon.url, "--pair", "ABCDE-FGHJK");
    expect(ran).toMatchObject({ exitCode, stderr: expect.stringMatching(says) });
    expect(JSON.parse((await cli(["connect", "list", "--json"], { home })).stdout)).toEqual({ remotes: [] });
  });

  it("shows what a hostile daemon says without what could steer a terminal", async () => {
    const { daemon, add } = await start(
      pairing(({ path }) =>
        path === "/api/pair"
          ? { status: 403, body: refusal("pairing_refused", "No\u001b]0;owned\u0007\u202e.") }
          : null,
      ),
    );
    const { stderr } = await add("box", daemon.url, "--pair", "ABCDE-FGHJK");
    expect(stderr).toContain("No.");
    expect(stderr).not.toMatch(/[\u001b\u0007\u202e]/);
  });
});

describe("sallyport -C NAME", () => {
  async function withBox(more: Answer) {
    const started = await start(pairing(more));
    await started.add("box", started.daemon.url, "--pair", "ABCDE-FGHJK");
    return { ...started, at: (...words: string[]) => cli(["-C", "box", ...words], { home: started.home }) };
  }

  it("sends the device token there, and no challenge of this home's", async () => {
    const { daemon, at } = await withBox(({ path }) =>
      path === "/api/jobs" ? { body: { jobs: [] } } : null,
    );
    expect((await at("jobs", "--json")).stdout).toBe('{"jobs":[]}\n');
    expect(daemon.requests.at(-1)).toMatchObject({
      path: "/api/jobs",
      authorization: "Bearer spd_secret-token",
    });
    expect(daemon.requests.some(({ path }) => path.includes("challenge"))).toBe(false);
  });

  it("follows no redirect: the token is for its base alone", async () => {
    const other = await startFakeDaemon({ answer: () => ({ body: { jobs: [] } }) });
    const server = createServer((_request, response) => {
      response.writeHead(307, { location: `${other.url}/api/jobs` });
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { home, remove } = await homeWith(null);
    undo.push(other.close, remove, async () => void server.close());
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const remotes = [{ name: "box", base, token: "spd_x", device: "d1", added: "" }];
    await writeFile(join(home, "remotes.json"), JSON.stringify({ version: 1, remotes }), { mode: 0o600 });
    expect((await cli(["-C", "box", "jobs"], { home })).exitCode).not.toBe(0);
    expect(other.requests).toEqual([]);
  });

  it.each<[string, FakeAnswer, number, RegExp]>([
    [
      "revoked",
      { status: 401, body: refusal("unauthorized", "No.") },
      4,
      /box does not know this machine.*connect add box/,
    ],
    [
      "remote access off",
      { status: 403, body: refusal("remote_off", "Off.") },
      4,
      /box lets nobody in.*remote on/,
    ],
    [
      "a scope that it lacks",
      { status: 403, body: refusal("scope_missing", "Needs admin.") },
      4,
      /Needs admin/,
    ],
  ])("%s: says so in its name", async (_name, answer, exitCode, says) => {
    const { at } = await withBox(({ path }) => (path === "/api/jobs" ? answer : null));
    expect(await at("jobs")).toMatchObject({ exitCode, stderr: expect.stringMatching(says) });
    const json = await at("jobs", "--json");
    expect(JSON.parse(json.stdout)).toMatchObject({ type: "error" });
  });

  it("offline: exit code 3, with the address", async () => {
    const { daemon, at } = await withBox(() => null);
    await daemon.close();
    undo.shift();
    expect(await at("jobs")).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining(`box cannot be reached: ${daemon.url}`),
    });
  });

  it.each(
    [
      ["up"],
      ["daemon", "start"],
      ["daemon", "run"],
      ["daemon", "restart"],
      ["doctor"],
      ["devices", "reset"],
      ["config", "path"],
      ["connect", "list"],
    ].map((words) => [words]),
  )("%s is about this machine and is refused as wrong usage", async (words) => {
    const { daemon, at } = await withBox(() => null);
    const before = daemon.requests.length;
    expect((await at(...words)).exitCode).toBe(2);
    expect(daemon.requests).toHaveLength(before);
  });

  it("a name that is not there, and a relative --tab, are wrong usage", async () => {
    const { home, at } = await withBox(() => null);
    expect((await cli(["-C", "nope", "jobs"], { home })).exitCode).toBe(2);
    expect(await at("prompt", "--tab", ".", "ls")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("whole path"),
    });
  });
});

describe("sallyport connect remove", () => {
  it("revokes there and forgets here", async () => {
    const { daemon, home, add } = await start(
      pairing(({ method }) => (method === "DELETE" ? { status: 204 } : null)),
    );
    await add("box", daemon.url, "--pair", "ABCDE-FGHJK");
    const ran = await cli(["connect", "remove", "box", "--json"], { home });
    expect(JSON.parse(ran.stdout)).toEqual({ type: "ack", name: "box", revoked: true });
    expect(daemon.requests.at(-1)).toMatchObject({ method: "DELETE", path: "/api/devices/d1" });
    expect((await cli(["-C", "box", "jobs"], { home })).exitCode).toBe(2);
  });

  it("forgets here also when it cannot be reached, and says what is left to do", async () => {
    const { daemon, home, add } = await start();
    await add("box", daemon.url, "--pair", "ABCDE-FGHJK");
    await daemon.close();
    undo.shift();
    const ran = await cli(["connect", "remove", "box"], { home });
    expect(ran).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("devices revoke d1") });
  });
});
