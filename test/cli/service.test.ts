import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { servicePlan } from "../../src/cli/service-file.ts";
import { cli } from "./fake-io.ts";

const spec = {
  command: ["/usr/bin/node", '/opt/a b/100%$HOME"\\x.js', "daemon", "run"],
  userHome: "/home/me",
  home: "/home/me/.sallyport",
};

describe("servicePlan", () => {
  it("is a systemd unit of the user on Linux, in which nothing is expanded and no job is ended", () => {
    const plan = servicePlan("linux", 1000, spec);
    expect(plan?.path).toBe("/home/me/.config/systemd/user/sallyport.service");
    expect(plan?.text).toContain(
      'ExecStart="/usr/bin/node" "/opt/a b/100%%$$HOME\\"\\\\x.js" "daemon" "run"\n',
    );
    expect(plan?.text).toContain("KillMode=process\n");
    expect(plan?.text).toContain('Environment="SALLYPORT_HOME=/home/me/.sallyport"\n');
  });

  it("is a launch agent on macOS, with its words escaped", () => {
    const plan = servicePlan("darwin", 501, { ...spec, command: ["/bin/node", "a<b&c"] });
    expect(plan?.path).toBe("/home/me/Library/LaunchAgents/dev.sallyport.daemon.plist");
    expect(plan?.text).toContain("<string>a&lt;b&amp;c</string>");
    expect(plan?.install).toEqual([["launchctl", "bootstrap", "gui/501", plan?.path]]);
  });

  it("is not known elsewhere", () => {
    expect(servicePlan("win32", 0, spec)).toBeNull();
  });
});

describe.runIf(process.platform === "linux")("sallyport service", () => {
  let folder: string;
  let unit: string;
  const run = (...words: string[]) =>
    cli(["service", ...words], { home: join(folder, "home"), env: { HOME: folder } });

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "sallyport-service-"));
    unit = join(folder, ".config", "systemd", "user", "sallyport.service");
    await mkdir(join(folder, "bin"));
    await writeFile(
      join(folder, "bin", "systemctl"),
      `#!/bin/sh\necho "$*" >> '${folder}/calls'\ntest ! -e '${folder}/fail' || { echo 'no bus' >&2; exit 1; }\n`,
      {
        mode: 0o700,
      },
    );
    vi.stubEnv("PATH", `${join(folder, "bin")}:${process.env.PATH}`);
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await rm(folder, { recursive: true, force: true });
  });

  it("--dry-run says what would be done and does nothing", async () => {
    const ran = await run("install", "--dry-run");
    expect(ran.stdout).toContain(`${unit}:`);
    expect(ran.stdout).toContain("  systemctl --user enable --now sallyport.service");
    await expect(stat(unit)).rejects.toMatchObject({ code: "ENOENT" });
    await expect(stat(join(folder, "calls"))).rejects.toMatchObject({ code: "ENOENT" });
    expect(JSON.parse((await run("install", "--dry-run", "--json")).stdout)).toMatchObject({
      manager: "systemd",
      path: unit,
    });
  });

  it("installs, saying each step, and uninstalls", async () => {
    const ran = await run("install");
    expect(ran.exitCode).toBe(0);
    expect(ran.stderr).toContain("Running: systemctl --user daemon-reload");
    expect(await readFile(unit, "utf8")).toContain("daemon");
    expect((await run("uninstall")).exitCode).toBe(0);
    await expect(stat(unit)).rejects.toMatchObject({ code: "ENOENT" });
    expect(await readFile(join(folder, "calls"), "utf8")).toBe(
      "--user daemon-reload\n--user enable --now sallyport.service\n--user disable --now sallyport.service\n",
    );
  });

  it("says what failed", async () => {
    await writeFile(join(folder, "fail"), "");
    expect(await run("install")).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("no bus") });
  });

  it("has nothing to uninstall where nothing was installed", async () => {
    expect((await run("uninstall")).exitCode).toBe(1);
  });
});
