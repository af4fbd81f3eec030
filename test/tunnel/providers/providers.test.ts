import { describe, expect, it } from "vitest";
import { SallyportError } from "../../../src/errors.ts";
import type { Provider, RawFields } from "../../../src/tunnel/provider.ts";
import { cloudflared } from "../../../src/tunnel/providers/cloudflared.ts";
import { command } from "../../../src/tunnel/providers/command.ts";
import { ngrok } from "../../../src/tunnel/providers/ngrok.ts";
import { ssh } from "../../../src/tunnel/providers/ssh.ts";
import { tailscale } from "../../../src/tunnel/providers/tailscale.ts";
import { providerNamed, providers } from "../../../src/tunnel/registry.ts";
import { findings } from "./fixture.ts";

const plan = (
  provider: Provider,
  rawFields: RawFields = {},
  settings: RawFields = {},
  insecureHttp = false,
) => provider.plan({ rawFields, settings, insecureHttp });

function refusal(provider: Provider, rawFields: RawFields, settings: RawFields = {}): SallyportError {
  try {
    plan(provider, rawFields, settings);
  } catch (error) {
    if (error instanceof SallyportError) return error;
    throw error;
  }
  throw new Error("it was taken");
}

const sshFields = { host: "me@box.example", remote_port: 9000, url: "https://me.example" };
const token = "eyJhIjoiMTIzIiwidCI6IjQ1NiJ9";

describe("the registry", () => {
  it("holds five providers under five names", () => {
    expect(providers.map(({ name }) => name)).toEqual([
      "cloudflared",
      "tailscale",
      "ngrok",
      "ssh",
      "command",
    ]);
  });

  it.each(["bogus", "", "__proto__", "SSH"])(
    "refuses the unknown provider %j and names those that exist",
    (name) => {
      expect(() => providerNamed(name)).toThrow(
        expect.objectContaining({
          code: "invalid_field",
          field: "provider",
          message: expect.stringContaining("ssh"),
        }),
      );
    },
  );
});

describe("cloudflared", () => {
  it("reads address and readiness out of a quick tunnel's output", () => {
    expect(findings(plan(cloudflared), "cloudflared-quick")).toEqual([
      { kind: "url", url: "https://seasonal-deck-organisms-sf.trycloudflare.com" },
      { kind: "ready" },
    ]);
  });

  it("takes no address out of an error text that names api.trycloudflare.com", () => {
    const found = findings(plan(cloudflared), "cloudflared-no-network");
    expect(found.map(({ kind }) => kind)).toEqual(["problem", "problem"]);
    expect(found[0]).toMatchObject({ final: false, text: expect.stringContaining("429") });
  });

  it.each([
    "https://api.trycloudflare.com",
    "INF |  https://seasonal.trycloudflare.com.evil.example  |",
    "INF |  https://trycloudflare.com  |",
    "INF |  http://plain.trycloudflare.com  |",
    "INF |  https://user:pass@x.trycloudflare.com  |",
    "INF |  https://x.trycloudflare.com?next=1  |",
    "2026-03-02T10:11:12Z ERR https://x.trycloudflare.com failed",
  ])("takes no address out of %j", (line) => {
    expect(plan(cloudflared).createReader()(line)?.kind).not.toBe("url");
  });

  const quick = "https://seasonal-deck.trycloudflare.com";
  it.each([
    [JSON.stringify({ level: "info", time: "x", message: `|  ${quick}  |` }), { kind: "url", url: quick }],
    [
      JSON.stringify({ level: "info", connIndex: 0, message: "Registered tunnel connection" }),
      { kind: "ready" },
    ],
    [
      JSON.stringify({ level: "error", error: "timeout", message: "Failed to dial a quic connection" }),
      { kind: "problem", isKnown: false, text: "ERR Failed to dial a quic connection: timeout" },
    ],
    [
      JSON.stringify({
        level: "error",
        error: "Unauthorized: Tunnel not found",
        message: "Register tunnel error",
      }),
      { kind: "problem", isKnown: true, final: true },
    ],
    ["INFO[2020-11-17T18:31:25Z] Connection established     connIndex=0 location=SEA", { kind: "ready" }],
    [
      "2026-03-02T10:11:12Z INF |  https://seasonal-deck.evil.example  |",
      { kind: "problem", text: expect.stringContaining("not below trycloudflare.com") },
    ],
    [
      "|  http://seasonal-deck.trycloudflare.com  |",
      { kind: "problem", text: expect.stringContaining("insecure_http") },
    ],
  ])("reads %j", (line, finding) => {
    expect(plan(cloudflared).createReader()(line)).toMatchObject(finding);
  });

  it.each([
    "2026-03-02T10:11:12Z ERR Cannot determine default origin certificate path. No file cert.pem in [~/.cloudflared]",
    "2026-03-02T10:11:12Z INF For more, visit https://developers.cloudflare.com/tunnel",
    '{"level":"info"',
  ])("makes nothing of %j", (line) => {
    expect(plan(cloudflared).createReader()(line)).toBeNull();
  });

  it("waits where it asks for a login at Cloudflare", () => {
    const read = plan(cloudflared).createReader();
    read("Please open the following URL and log in with your Cloudflare account:");
    expect(read("https://dash.cloudflare.com/argotunnel?callback=x")).toMatchObject({
      kind: "waiting",
      link: "https://dash.cloudflare.com/argotunnel?callback=x",
    });
  });

  it("gives a named tunnel its token by the environment, never as an argument", () => {
    const named = plan(cloudflared, { token, hostname: "sally.example.com" });
    expect(named.publicUrl).toBe("https://sally.example.com");
    const { args, env } = named.command(24_567);
    expect(env).toEqual({ TUNNEL_TOKEN: token });
    expect(args.join(" ")).not.toContain(token);
    expect(named.secrets).toEqual([token]);
    expect(named.hint(24_567)).toContain("http://127.0.0.1:24567");
  });

  it("knows a wrong token, and that trying again will not help", () => {
    const named = plan(cloudflared, { token, hostname: "sally.example.com" });
    expect(findings(named, "cloudflared-bad-token")[0]).toMatchObject({ kind: "problem", final: true });
  });

  it.each([
    [{ token }, "hostname"],
    [{ hostname: "sally.example.com" }, "token"],
    [{ token: "short", hostname: "sally.example.com" }, "token"],
    [{ token: "has a space in it", hostname: "sally.example.com" }, "token"],
    [{ token, hostname: "https://sally.example.com" }, "hostname"],
    [{ token, hostname: "-x.example.com" }, "hostname"],
    [{ binary: "/tmp/evil" }, "binary"],
    [{ url: "https://x.example" }, "url"],
  ])("refuses %j at the field %s", (fields, field) => {
    const error = refusal(cloudflared, fields);
    expect([error.code, error.field]).toEqual(["invalid_field", field]);
    if ("token" in fields && fields.token !== undefined) expect(error.message).not.toContain(fields.token);
  });
});

describe("tailscale", () => {
  it("reads the address of serve, and of funnel on another port", () => {
    expect(findings(plan(tailscale), "tailscale-serve")).toEqual([
      { kind: "url", url: "https://devbox.tail1a2b3c.ts.net" },
    ]);
    expect(findings(plan(tailscale, { funnel: true, https_port: 8443 }), "tailscale-funnel")).toContainEqual({
      kind: "url",
      url: "https://devbox.tail1a2b3c.ts.net:8443",
    });
  });

  it("waits with text and link while Serve is not enabled, and finds the address afterwards", () => {
    const found = findings(plan(tailscale), "tailscale-not-enabled");
    const withLink = found.find((finding) => finding.kind === "waiting" && finding.link !== null);
    expect(withLink).toEqual({
      kind: "waiting",
      text: "Serve is not enabled on your tailnet. To enable, visit:",
      link: "https://login.tailscale.com/f/serve?node=nABCDEF1CNTRL",
    });
    expect(found).toContainEqual({ kind: "url", url: "https://devbox.tail1a2b3c.ts.net" });
  });

  it("offers nobody's page as a link but Tailscale's own", () => {
    const read = plan(tailscale).createReader();
    read("To enable, visit:");
    expect(read("   https://login.tailscale.com.evil.example/f/serve")).toMatchObject({ link: null });
  });

  it("says what to do where only root may serve", () => {
    expect(findings(plan(tailscale), "tailscale-denied")[0]).toMatchObject({
      kind: "problem",
      final: true,
      text: expect.stringContaining("--operator"),
    });
  });

  it.each([
    ["error: getting client status: Tailscale is stopped.", "sudo tailscale up", false],
    ["# Health check:\t- node key has expired", "--force-reauth", false],
    ["flag provided but not defined: -https", "1.52", true],
  ])("says the next step after %j", (line, step, final) => {
    expect(plan(tailscale).createReader()(line)).toMatchObject({
      kind: "problem",
      isKnown: true,
      final,
      text: expect.stringContaining(step),
    });
  });

  it("says so where the address is none of its domain", () => {
    expect(plan(tailscale).createReader()("https://devbox.evil.example/")).toMatchObject({
      kind: "problem",
      text: expect.stringContaining("not below ts.net"),
    });
    expect(plan(tailscale).createReader()("See https://tailscale.com/s/https.")).toBeNull();
  });

  it("runs in the foreground, never with --bg", () => {
    expect(plan(tailscale).command(24_567).args).toEqual(["serve", "--https=443", "http://127.0.0.1:24567"]);
    expect(plan(tailscale, { funnel: true }).command(1).args[0]).toBe("funnel");
  });

  it.each([
    [{ funnel: "yes" }, "funnel"],
    [{ https_port: 70_000 }, "https_port"],
    [{ funnel: true, https_port: 9_000 }, "https_port"],
    [{ bg: true }, "bg"],
  ])("refuses %j at the field %s", (fields, field) => {
    expect(refusal(tailscale, fields).field).toBe(field);
  });
});

describe("ngrok", () => {
  it("takes the address of the started tunnel, and of no other line", () => {
    expect(findings(plan(ngrok), "ngrok-started")).toEqual([
      { kind: "url", url: "https://2f1c-203-0-113-9.ngrok-free.app", isReady: true },
    ]);
  });

  it.each([
    JSON.stringify({ lvl: "info", msg: "started tunnel", url: "https://x.ngrok-free.app" }),
    "Forwarding                    https://x.ngrok-free.app -> http://localhost:8080",
  ])("takes the address out of %j too", (line) => {
    expect(plan(ngrok).createReader()(line)).toMatchObject({ kind: "url", url: "https://x.ngrok-free.app" });
  });

  it("puts a complaint of several lines together", () => {
    const read = plan(ngrok).createReader();
    const lines = ["ERROR:  failed to start tunnel: Something odd.", "ERROR:", "ERROR:  ERR_NGROK_9999"];
    expect(lines.map(read).at(-1)).toMatchObject({
      kind: "problem",
      text: "failed to start tunnel: Something odd. ERR_NGROK_9999",
    });
  });

  it("knows that it is too old", () => {
    expect(plan(ngrok).createReader()("ERROR:  ERR_NGROK_121")).toMatchObject({
      final: true,
      text: expect.stringContaining("ngrok update"),
    });
  });

  it("knows a refused authtoken and does not repeat it, although the tool does", () => {
    const found = findings(plan(ngrok, { authtoken: "1yaP1QLD0cVVKBknmtX9" }), "ngrok-bad-token");
    expect(found[0]).toMatchObject({ kind: "problem", final: true });
    expect(plan(ngrok, { authtoken: "1yaP1QLD0cVVKBknmtX9" }).secrets).toEqual(["1yaP1QLD0cVVKBknmtX9"]);
  });

  it("with an address of its own takes that one only", () => {
    const own = plan(ngrok, { url: "https://sally.example.com/" });
    expect(own.publicUrl).toBe("https://sally.example.com");
    expect(findings(own, "ngrok-started")).toEqual([{ kind: "ready" }]);
    expect(own.command(7).args).toContain("--url=https://sally.example.com");
  });

  it("says so where the address is none of its domains", () => {
    const line = 'lvl=info msg="started tunnel" url=https://evil.example';
    expect(plan(ngrok).createReader()(line)).toMatchObject({ kind: "problem", final: false });
  });

  it("passes the authtoken by the environment", () => {
    const { args, env } = plan(ngrok, {}, { authtoken: "1yaP1QLD0cVVKBknmtX9" }).command(7);
    expect(env).toEqual({ NGROK_AUTHTOKEN: "1yaP1QLD0cVVKBknmtX9" });
    expect(args.join(" ")).not.toContain("1yaP");
  });
});

describe("ssh", () => {
  it("connects with the options that make it safe to run unattended", () => {
    const { program, args } = plan(ssh, sshFields).command(24_567);
    expect(program).toBe("ssh");
    for (const option of ["BatchMode=yes", "StrictHostKeyChecking=yes", "ExitOnForwardFailure=yes"])
      expect(args).toContain(option);
    expect(args.slice(-4)).toEqual(["-R", "127.0.0.1:9000:127.0.0.1:24567", "--", "me@box.example"]);
  });

  it("takes files from the configuration only", () => {
    const settings = { identity_file: "/keys/id", known_hosts: "/keys/known hosts" };
    expect(plan(ssh, sshFields, settings).command(1).args).toEqual(
      expect.arrayContaining([
        "-i",
        "/keys/id",
        'UserKnownHostsFile="/keys/known hosts"',
        "IdentitiesOnly=yes",
      ]),
    );
    expect(refusal(ssh, { ...sshFields, identity_file: "/etc/shadow" }).message).toContain("config.toml");
  });

  it.each([
    ["-oProxyCommand=evil", "host"],
    ["me@-oProxyCommand=evil", "host"],
    ["box;rm -rf", "host"],
    ["box example", "host"],
    ["box\n", "host"],
    ["", "host"],
    ["a@b@c", "host"],
    ["$(id)@box", "host"],
  ])("injection: refuses the host %j", (host, field) => {
    expect(refusal(ssh, { ...sshFields, host }).field).toBe(field);
  });

  it.each([
    [{ remote_port: 0 }, "remote_port"],
    [{ remote_port: "9000" }, "remote_port"],
    [{ remote_port: 9000.5 }, "remote_port"],
    [{ remote_bind: "evil.example" }, "remote_bind"],
    [{ url: "http://me.example" }, "url"],
    [{ url: "https://me.example/?x" }, "url"],
    [{ url: "https://u:p@me.example" }, "url"],
    [{ url: "https://me.example/a/../b" }, "url"],
    [{ url: "javascript:alert(1)" }, "url"],
    [{ url: 7 }, "url"],
    [{ options: ["-v"] }, "options"],
  ])("refuses %j at the field %s", (fields, field) => {
    expect(refusal(ssh, { ...sshFields, ...fields }).field).toBe(field);
  });

  it.each(["host", "remote_port", "url"])("says that %s is missing", (field) => {
    const { [field as keyof typeof sshFields]: _, ...fields } = sshFields;
    expect(refusal(ssh, fields)).toMatchObject({ field, message: expect.stringContaining("is missing") });
  });

  it.each([
    ["Host key verification failed.", true],
    ["me@box: Permission denied (publickey).", true],
    ["Error: remote port forwarding failed for listen port 9000", false],
    ["ssh: Could not resolve hostname box: Name or service not known", false],
  ])("explains %j", (line, final) => {
    expect(plan(ssh, sshFields).createReader()(line)).toMatchObject({ kind: "problem", final });
  });
});

it("ssh waits where the server wants to see its user in a browser first", () => {
  const read = plan(ssh, sshFields).createReader();
  read("# Tailscale SSH requires an additional check.");
  expect(read("# To authenticate, visit: https://login.tailscale.com/a/1234")).toMatchObject({
    kind: "waiting",
    link: "https://login.tailscale.com/a/1234",
  });
});

describe("command", () => {
  const settings = {
    command: ["my-tunnel", "--port={port}"],
    url_pattern: "up at (https://[a-z]+\\.example)",
  };

  it("puts the port into its arguments and takes the first group of the pattern", () => {
    const own = plan(command, {}, settings);
    expect(own.command(24_567)).toEqual({ program: "my-tunnel", args: ["--port=24567"], env: {} });
    expect(own.createReader()("\u001b[32mup at https://abc.example\u001b[0m")).toEqual({
      kind: "url",
      url: "https://abc.example",
    });
    expect(own.createReader()("up at https://abc.evil")).toBeNull();
  });

  it.each([
    [["To authenticate, visit: https://login.example/abc?code=1"], "https://login.example/abc?code=1"],
    [["Please log in:", "", "  https://login.example/abc"], "https://login.example/abc"],
    [["Please log in:", "one", "two", "three", "four", "https://login.example/abc"], null],
    [["Please log in: http://login.example/abc"], null],
    [["Please log in: https://me:pass@login.example/abc"], null],
    [["docs are at https://docs.example"], null],
  ])("after %j waits for %j", (lines, link) => {
    const read = plan(command, {}, settings).createReader();
    const waiting = lines.map(read).find((finding) => finding?.kind === "waiting");
    expect(waiting?.kind === "waiting" ? waiting.link : null).toBe(link);
  });

  it("takes http with insecure_http only, and says so", () => {
    const loose = { ...settings, url_pattern: "https?://\\S+" };
    expect(plan(command, {}, loose).createReader()("http://abc.example")).toMatchObject({ kind: "problem" });
    expect(plan(command, {}, loose, true).createReader()("http://abc.example")).toEqual({
      kind: "url",
      url: "http://abc.example",
    });
  });

  it.each([
    [{ command: ["/tmp/evil"] }, settings, "command"],
    [{ url_pattern: ".*" }, settings, "url_pattern"],
    [{}, {}, "command"],
    [{}, { command: ["x"] }, "url_pattern"],
    [{}, { ...settings, url_pattern: "(" }, "url_pattern"],
    [{}, { ...settings, colour: "red" }, "colour"],
  ])("refuses %j with the settings %j at the field %s", (fields, given, field) => {
    expect(refusal(command, fields, given).field).toBe(field);
  });
});
