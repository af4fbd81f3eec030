import { describe, expect, it } from "vitest";
import { ConfigError } from "../../src/config/config-error.ts";
import { startFailure } from "../../src/daemon/start-failure.ts";
import { StartupError } from "../../src/daemon/startup-error.ts";
import { SallyportError } from "../../src/errors.ts";
import { StateFileError } from "../../src/lib/state-file.ts";

const systemError = (code: string, path?: string, dest?: string) =>
  Object.assign(new Error(code), { code, path, dest });

describe("startFailure", () => {
  it.each([
    [new StartupError("home", "text"), "home", "text"],
    [new ConfigError("config.toml line 1: x"), "config", "config.toml line 1: x"],
    [new StateFileError("state.json is damaged"), "disk", "state.json is damaged"],
    [new SallyportError("internal", "daemon.key: damaged"), "secret", "daemon.key: damaged"],
    [new SallyportError("disk_full", "no room"), "disk", "no room"],
    [systemError("ENOSPC", "/h/state.json"), "disk", "The disk is full: /h/state.json"],
    [systemError("ENOSPC"), "disk", "The disk is full: /home"],
    [systemError("EROFS", "/h/x"), "disk", "/h/x cannot be used (EROFS)"],
    [systemError("ENOENT", "/h/jobs"), "disk", "/h/jobs cannot be used (ENOENT)"],
    [systemError("ENXIO", "/h/daemon.log"), "disk", "/h/daemon.log cannot be used (ENXIO)"],
    [systemError("EISDIR", "/h/.daemon.json.P1TG.tmp", "/h/daemon.json"), "disk", "/h/daemon.json cannot be"],
  ])("tells %s as %s", (error, problem, text) => {
    const told = startFailure(error, "/home");
    expect(told).toBeInstanceOf(StartupError);
    expect(told).toMatchObject({ problem, message: expect.stringContaining(text) });
  });

  it("leaves a fault of the program what it is", () => {
    const fault = new TypeError("x is not a function");
    expect(startFailure(fault, "/home")).toBe(fault);
  });
});
