import { describe, expect, it } from "vitest";
import { forgetOldShells, keepShell, type Shell, shouldAnswer } from "../../web/worker/shell-cache.ts";

const shell: Shell = { scope: "https://h/base/", hash: "b2", files: ["assets/a-12345678.js"] };

describe("shouldAnswer", () => {
  it.each([
    ["GET", "https://h/base/", "navigate", true],
    ["GET", "https://h/base/#/jobs", "navigate", true],
    ["GET", "https://h/base/?token=spm_x", "navigate", true],
    ["GET", "https://h/base/index.html", "navigate", true],
    ["GET", "https://h/base/assets/a-12345678.js", "cors", true],
    ["GET", "https://h/base/icon-192.png", "no-cors", true],
    ["GET", "https://h/base/api/daemon", "cors", false],
    ["GET", "https://h/base/api/jobs/3fa9c210/output", "navigate", false],
    ["GET", "https://h/base/mew", "websocket", false],
    ["GET", "https://h/base/worker.js", "same-origin", false],
    ["POST", "https://h/base/", "navigate", false],
    ["GET", "https://h/", "navigate", false],
    ["GET", "https://other/base/assets/a-12345678.js", "cors", false],
    ["GET", "https://h/base/other/assets/x.js", "cors", false],
  ])("of %s %s (%s) is %s", (method, url, mode, expected) => {
    expect(shouldAnswer(shell, { method, url, mode: mode as RequestMode })).toBe(expected);
  });
});

describe("keepShell", () => {
  it("keeps nothing when a file is missing", async () => {
    const put: string[] = [];
    const caches = {
      open: async () => ({ put: async (url: string) => void put.push(url) }) as unknown as Cache,
      keys: async () => [],
      delete: async () => true,
    };
    const fetch = async (url: Request | string) =>
      new Response("", { status: String(url).endsWith(".js") ? 404 : 200 });
    await expect(keepShell(shell, caches, fetch)).rejects.toThrow("404");
  });
});

describe("forgetOldShells", () => {
  it("removes older versions of this page, and leaves other pages of the origin alone", async () => {
    const names = ["sallyport-shell /base/ a1", "sallyport-shell /base/ b2", "sallyport-shell / a1", "other"];
    const gone: string[] = [];
    await forgetOldShells(shell, {
      open: async () => ({}) as Cache,
      keys: async () => names,
      delete: async (name) => gone.push(name) > 0,
    });
    expect(gone).toEqual(["sallyport-shell /base/ a1"]);
  });
});
