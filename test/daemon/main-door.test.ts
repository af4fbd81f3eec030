import { describe, expect, it } from "vitest";
import { openMainDoor } from "../../src/daemon/main-door.ts";

const systemError = (code: string) => Object.assign(new Error(code), { code });

describe("openMainDoor", () => {
  const failing = (code: string) => ({ openDoor: () => Promise.reject(systemError(code)) });

  it("tells a port that this user may not have, and leaves other errors alone", async () => {
    await expect(openMainDoor(failing("EACCES"), 80, "spm_x")).rejects.toMatchObject({
      problem: "port_taken",
    });
    await expect(openMainDoor(failing("EMFILE"), 7700, "spm_x")).rejects.toMatchObject({ code: "EMFILE" });
  });

  it("takes silence on a taken port for a stranger's", async () => {
    await expect(openMainDoor(failing("EADDRINUSE"), 1, "spm_x")).rejects.toMatchObject({
      problem: "port_taken",
      message: expect.stringContaining("--port 2"),
    });
  });
});
