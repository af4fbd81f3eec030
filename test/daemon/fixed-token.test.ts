import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readFixedToken } from "../../src/daemon/fixed-token.ts";

const token = "0123456789abcdef0123456789abcdef";
let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sallyport-token-"));
  path = join(folder, "token");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe("readFixedToken", () => {
  it("is null when nothing is fixed", async () => {
    expect(await readFixedToken(null, {})).toBeNull();
  });

  it("takes the variable, and the file before the variable", async () => {
    expect(await readFixedToken(null, { SALLYPORT_TOKEN: token })).toBe(token);
    await writeFile(path, `${token}-file\n`, { mode: 0o600 });
    expect(await readFixedToken(path, { SALLYPORT_TOKEN: token })).toBe(`${token}-file`);
  });

  it.each(["", " ", "short", "with spaces in it, but long enough to count"])(
    "refuses %j: never means no token, and the value is not repeated",
    async (value) => {
      const refused = readFixedToken(null, { SALLYPORT_TOKEN: value });
      await expect(refused).rejects.toMatchObject({ problem: "secret" });
      await expect(refused).rejects.toThrow("SALLYPORT_TOKEN");
      if (value.trim() !== "") await expect(refused).rejects.not.toThrow(value);
    },
  );

  it("refuses a missing file, an empty one, and one that others can read", async () => {
    await expect(readFixedToken(path, {})).rejects.toThrow(`${path} cannot be used: no such file`);
    await writeFile(path, "", { mode: 0o600 });
    await expect(readFixedToken(path, {})).rejects.toThrow("set but empty");
    await writeFile(path, token);
    await chmod(path, 0o644);
    await expect(readFixedToken(path, {})).rejects.toThrow(`chmod 600 ${path}`);
  });
});
