import { readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { createSecretFile } from "../../src/lib/create-secret-file.ts";
import { temporaryHome } from "../pairing/fakes.ts";

describe("createSecretFile", () => {
  it("race: of many at once one wins, and the file is whole", async () => {
    const { home, daemonKey } = await temporaryHome();
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => createSecretFile(daemonKey, `text ${index}`)),
    );
    const winner = results.findIndex(({ status }) => status === "fulfilled");
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await readFile(daemonKey, "utf8")).toBe(`text ${winner}`);
    expect(await readdir(home)).toEqual(["daemon.key"]);
  });

  it("planted link: writes nothing into the file it points at, even if that is not there", async () => {
    const { home, daemonKey } = await temporaryHome();
    await writeFile(`${home}/victim`, "before");
    await symlink(`${home}/victim`, daemonKey);
    await expect(createSecretFile(daemonKey, "secret")).rejects.toMatchObject({ code: "EEXIST" });
    expect(await readFile(`${home}/victim`, "utf8")).toBe("before");
    const dangling = `${home}/dangling`;
    await symlink(`${home}/nothing`, dangling);
    await expect(createSecretFile(dangling, "secret")).rejects.toMatchObject({ code: "EEXIST" });
    expect((await readdir(home)).sort()).toEqual(["daemon.key", "dangling", "victim"]);
  });
});
