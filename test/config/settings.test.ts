import { describe, expect, it } from "vitest";
import { changeSettings } from "../../src/config/change-settings.ts";
import { parseConfig } from "../../src/config/parse-config.ts";
import { type SettingWriter, viewSettings } from "../../src/config/view-settings.ts";
import type { SallyportError } from "../../src/errors.ts";

const base = {
  path: "/home/me/.sallyport/config.toml",
  userHome: "/home/me",
  ruleProblem: (rule: string) => (rule.startsWith("bash(") ? null : "is no rule."),
};
const text = `[daemon]
idle_minutes = 5 # short

[agents.coder]
command = "coder"
args = ["--key", "hidden-argument"]
env = { API_KEY = "hidden-value" }

[mcp_servers.issues]
url = "https://mcp.example/x?key=hidden-argument"

[tunnel.ngrok]
authtoken = "hidden-token"
region = "eu"

[[door]]
listen = 7800
url = "https://a.example"
`;

function change(changes: Record<string, unknown>, writer: SettingWriter = "master", from = text): string {
  return changeSettings(from, changes, { ...base, writer });
}
function refusal(changes: Record<string, unknown>, writer: SettingWriter = "master", from = text) {
  try {
    change(changes, writer, from);
  } catch (error) {
    const { code, field } = error as SallyportError;
    return { code, field };
  }
  return null;
}
function rowsFor(writer: SettingWriter, from = text, runningText = text) {
  const running = parseConfig(runningText, base);
  const { settings, problem } = viewSettings(from, { ...base, running, writer });
  return { problem, row: (key: string) => settings.find((each) => each.key === key), settings };
}

describe("viewSettings", () => {
  it("shows each value, where it comes from and what it would be without the file", () => {
    const { row, problem } = rowsFor("master");
    expect(problem).toBeNull();
    expect(row("daemon.idle_minutes")).toMatchObject({
      value: 5,
      default: 120,
      source: "file",
      present: true,
    });
    expect(row("port")).toMatchObject({ value: 7700, default: 7700, source: "default", present: false });
    expect(row("daemon.idle_minutes")?.schema).toMatchObject({ type: "integer", minimum: 0 });
    expect(row("agents.coder.command")).toMatchObject({ value: "coder", writable: true });
    expect(row("tunnel.ngrok.region")).toMatchObject({ value: "eu", secret: false });
    expect(row("door")).toMatchObject({ writable: false, present: true });
  });

  it("tells of secrets only that they are there, to the master too", () => {
    for (const writer of ["master", "admin", "nobody"] as const) {
      const { settings, row } = rowsFor(writer);
      expect(JSON.stringify(settings)).not.toMatch(/hidden-(value|token)/);
      expect(row("agents.coder.env.API_KEY")).toMatchObject({ secret: true, present: true, value: null });
      expect(row("tunnel.ngrok.authtoken")).toMatchObject({ secret: true, present: true, value: null });
    }
    expect(JSON.stringify(rowsFor("nobody").settings)).not.toContain("hidden-argument");
  });

  it("says what the caller may write", () => {
    const writable = (writer: SettingWriter) =>
      rowsFor(writer).settings.flatMap((each) => (each.writable ? [each.key] : []));
    expect(writable("nobody")).toEqual([]);
    expect(writable("admin")).toEqual([
      "daemon.idle_minutes",
      "mew.detach_grace",
      "jobs.max_log_bytes",
      "jobs.max_total_bytes",
      "jobs.keep_days",
      "push.after_seconds",
    ]);
    expect(writable("master")).not.toContain("door");
  });

  it("says which settings count only after a stop and a start", () => {
    const { settings } = rowsFor("master", `port = 7701\n${text}`, text.replace("5 #", "6 #"));
    expect(settings.filter((each) => each.restart_needed).map((each) => each.key)).toEqual(["port"]);
  });

  it("tells what is wrong with a damaged file and shows what the daemon goes by", () => {
    const { problem, row } = rowsFor("master", "port = = 1", text);
    expect(problem).toContain("line 1");
    expect(row("daemon.idle_minutes")?.value).toBe(5);
  });
});

describe("changeSettings", () => {
  it("changes several settings at once and keeps the comments", () => {
    const next = change({ "daemon.idle_minutes": 60, "jobs.keep_days": 7, "agents.coder.command": "other" });
    expect(next).toContain("idle_minutes = 60 # short");
    expect(parseConfig(next, base)).toMatchObject({
      idleMinutes: 60,
      jobs: { keepDays: 7 },
      agents: { coder: { command: "other", env: { API_KEY: "hidden-value" } } },
    });
    expect(change({ "daemon.idle_minutes": null })).toContain("[daemon]\n# short\n");
  });

  it.each([
    ["port", 1],
    ["host", "0.0.0.0"],
    ["origins", ["https://evil.example"]],
    ["hosts", ["evil.example"]],
    ["trusted_proxies", ["10.0.0.1"]],
    ["daemon.browse_root", "/"],
    ["rules.allow", ["bash(*)"]],
    ["rules.deny", []],
    ["tls.cert", "/tmp/cert"],
    ["agents.evil.command", "/tmp/evil"],
    ["agents.coder.env.PATH", "/tmp"],
    ["tunnel.ngrok.binary", "/tmp/evil"],
    ["tunnel.command.command", ["/tmp/evil"]],
    ["tunnel.insecure_http", true],
  ])("refuses an admin device that writes the program, path or part of the gate %s", (key, value) => {
    expect(refusal({ "jobs.keep_days": 1, [key]: value }, "admin")).toEqual({
      code: "scope_missing",
      field: key,
    });
    expect(refusal({ [key]: value }, "nobody")?.code).toBe("scope_missing");
  });

  it.each([
    ["nothing.known", 1, "invalid_field"],
    ["", 1, "invalid_field"],
    ["daemon", {}, "invalid_field"],
    ["daemon.", 1, "invalid_field"],
    ["__proto__.polluted", 1, "invalid_field"],
    ["constructor", 1, "invalid_field"],
    ["agents.coder", { command: "x" }, "invalid_field"],
    ["daemon.idle_minutes", "5", "invalid_field"],
    ["daemon.idle_minutes", -1, "invalid_field"],
    ["daemon.idle_minutes", 1.5, "invalid_field"],
    ["port", 70_000, "invalid_field"],
    ["port", [1], "invalid_field"],
    ["hosts", ["a\0b"], "invalid_field"],
    ["hosts", ["\ud800"], "invalid_field"],
    ["hosts", [{}], "invalid_field"],
    ["door", [], "not_supported"],
    ["door.0.listen", 1, "not_supported"],
  ])("refuses %s = %j", (key, value, code) => {
    expect(refusal({ [key]: value })).toEqual({ code, field: key });
  });

  it("judges the file as a whole, as at a start", () => {
    expect(refusal({ "tls.cert": "/etc/cert.pem" })).toEqual({ code: "invalid_field", field: "tls.key" });
    expect(refusal({ "rules.allow": ["nonsense"] })).toEqual({
      code: "invalid_field",
      field: "rules.allow.0",
    });
    expect(refusal({ port: 7800 })).toEqual({ code: "invalid_field", field: "door.0.listen" });
  });

  it("repairs a file that is wrong in a value, and leaves one alone that is no TOML", () => {
    expect(change({ "daemon.idle_minutes": 1 }, "master", "[daemon]\nidle_minutes = -5\n")).toBe(
      "[daemon]\nidle_minutes = 1\n",
    );
    expect(refusal({ port: 1 }, "master", "port = = 1")?.code).toBe("not_supported");
  });
});
