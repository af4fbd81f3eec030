import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { bundlePage, removeOldFiles } from "../../scripts/build-page.js";

/** What a phone on a slow line waits for, all of it, compressed. */
const maxFirstLoadBytes = 150 * 1024;

describe("the built page", async () => {
  const files = await bundlePage({ root: process.cwd(), version: "1.0.0" });
  const text = (path: string): string => Buffer.from(files.get(path) ?? "").toString("utf8");
  const html = text("index.html");

  it("loads at most 150 KB at first, compressed", () => {
    const first = ["index.html", "icon.svg", "manifest.webmanifest", "worker.js"];
    const named = [...html.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map((match) => match[1] ?? "");
    expect(named.length).toBeGreaterThan(1);
    const bytes = [...first, ...named].map((path) => gzipSync(files.get(path) ?? "", { level: 9 }).length);
    expect(bytes.reduce((sum, size) => sum + size)).toBeLessThan(maxFirstLoadBytes);
  });

  it("needs no inline script or style, and no address but its own", () => {
    expect(html).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\son\w+=|\sstyle=/i);
    for (const path of files.keys())
      if (/\.(?:js|css|html)$/.test(path))
        expect(
          [...text(path).matchAll(/(?:src|href)="https?:|url\(\s*["']?(?:https?:)?\/\/|@import/g)],
          path,
        ).toEqual([]);
  });

  it("gives what may be kept for ever a name that changes with it", () => {
    const assets = [...files.keys()].filter((path) => path.startsWith("assets/"));
    expect(assets.filter((path) => !/-[\w-]{8}\.\w+$/.test(path))).toEqual([]);
  });

  it("keeps what is compressed of the files that it has, and no other", async () => {
    const folder = await mkdtemp(join(tmpdir(), "sallyport-build-"));
    try {
      await mkdir(join(folder, "assets"));
      for (const name of ["new-1.js", "new-1.js.br", "new-1.js.gz", "old-1.js", "old-1.js.br", "old-1.js.gz"])
        await writeFile(join(folder, "assets", name), "");
      await removeOldFiles(folder, new Map([["assets/new-1.js", new Uint8Array()]]), true);
      expect((await readdir(join(folder, "assets"))).sort()).toEqual([
        "new-1.js",
        "new-1.js.br",
        "new-1.js.gz",
      ]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
