import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";
import { filesBelow, readRepoFile } from "./sources.ts";

/** For each folder of src: what it may import. An edge that is not here is forbidden, and `why` says what would break. */
const directions: Readonly<Record<string, { readonly may: readonly string[]; readonly why: string }>> = {
  errors: { may: [], why: "the error codes are a leaf that the browser bundles too" },
  lib: { may: ["errors"], why: "lib holds leaves; a leaf that knows the product cannot be used everywhere" },
  protocol: { may: ["errors"], why: "wire schemas run in a browser and must not drag the daemon along" },
  config: {
    may: ["lib", "errors", "protocol"],
    why: "the configuration is parsed before anything else exists",
  },
  auth: {
    may: ["lib", "errors", "protocol"],
    why: "decisions of the gate are pure functions of values; they must not reach state or I/O",
  },
  pairing: { may: ["auth", "lib", "errors", "protocol"], why: "pairing works without a server or an engine" },
  engine: {
    may: ["lib", "errors", "protocol"],
    why: "the engine knows owner ids, never tokens, sockets or the gate",
  },
  push: {
    may: ["lib", "errors", "protocol"],
    why: "push sends to the internet; it must not reach into the gate, devices or the engine",
  },
  tunnel: { may: ["lib", "errors", "protocol"], why: "tunnel and gateway meet only in daemon" },
  gateway: {
    may: ["engine", "pairing", "auth", "config", "protocol", "lib", "errors"],
    why: "the gateway must not know tunnels or the process it runs in",
  },
  daemon: {
    may: ["gateway", "push", "tunnel", "engine", "pairing", "auth", "config", "protocol", "lib", "errors"],
    why: "the composition root must not depend on the command line",
  },
  client: { may: ["protocol", "errors"], why: "the client runs in browsers and in other people's programs" },
  cli: {
    may: ["daemon", "client", "pairing", "auth", "config", "protocol", "lib", "errors"],
    why: "the command line is a client, and a doctor of files; it must not reach into a running engine or gateway",
  },
  web: { may: ["client", "protocol", "errors"], why: "the page is a client of the wire protocol only" },
};

/** Node modules that a folder must not import, with the reason. */
const forbiddenModules: readonly {
  readonly folder: string;
  readonly pattern: RegExp;
  readonly why: string;
}[] = [
  {
    folder: "auth",
    pattern: /^node:(http|https|fs|net|tls|dgram|child_process|worker_threads)/,
    why: "the gate's decisions have no I/O",
  },
  { folder: "protocol", pattern: /^node:/, why: "protocol runs in a browser" },
  { folder: "client", pattern: /^node:/, why: "client runs in a browser" },
  { folder: "web", pattern: /^node:/, why: "web runs in a browser" },
  { folder: "errors", pattern: /./, why: "errors is a leaf" },
];

interface Import {
  readonly from: string;
  readonly specifier: string;
}

const importPattern =
  /(?:^|\n)\s*(?:import|export)\s[^;'"]*?from\s*["']([^"']+)["']|(?:^|\W)import\(\s*["']([^"']+)["']\s*\)|(?:^|\n)\s*import\s*["']([^"']+)["']/g;

function importsOf(path: string): Import[] {
  return [...readRepoFile(path).matchAll(importPattern)].map((match) => ({
    from: path,
    specifier: match[1] ?? match[2] ?? match[3] ?? "",
  }));
}

function folderOf(path: string): string {
  if (path.startsWith("web/")) return "web";
  const [, second = ""] = path.split("/");
  return second.replace(/\.ts$/, "");
}

const sources = [...filesBelow("src", [".ts", ".tsx"]), ...filesBelow("web", [".ts", ".tsx"])];
const imports = sources.flatMap(importsOf);
const relativeImports = imports
  .filter(({ specifier }) => specifier.startsWith("."))
  .map(({ from, specifier }) => ({ from, to: normalize(join(dirname(from), specifier)) }));

describe("imports", () => {
  it("finds the sources and their imports", () => {
    expect(sources.length).toBeGreaterThan(20);
    expect(relativeImports.length).toBeGreaterThan(20);
  });

  it("go only in the directions of the table", () => {
    const wrong = relativeImports
      .filter(({ to }) => to.startsWith("src/") || to.startsWith("web/"))
      .filter(({ from, to }) => {
        const [source, target] = [folderOf(from), folderOf(to)];
        return source !== target && !directions[source]?.may.includes(target);
      })
      .map(({ from, to }) => `${from} -> ${to}: ${directions[folderOf(from)]?.why ?? "unknown folder"}`);
    expect(wrong).toEqual([]);
  });

  it("name no module that their folder must do without", () => {
    const wrong = imports.flatMap(({ from, specifier }) =>
      forbiddenModules
        .filter(
          ({ folder, pattern }) =>
            folderOf(from) === folder && !specifier.startsWith(".") && pattern.test(specifier),
        )
        .map(({ why }) => `${from} -> ${specifier}: ${why}`),
    );
    expect(wrong).toEqual([]);
  });

  it("form no cycle between files, type imports included", () => {
    const graph = new Map<string, string[]>();
    for (const { from, to } of relativeImports) graph.set(from, [...(graph.get(from) ?? []), to]);
    const done = new Set<string>();
    const cycles: string[] = [];
    const visit = (file: string, trail: readonly string[]): void => {
      const at = trail.indexOf(file);
      if (at >= 0) {
        cycles.push([...trail.slice(at), file].join(" -> "));
        return;
      }
      if (done.has(file)) return;
      for (const next of graph.get(file) ?? []) visit(next, [...trail, file]);
      done.add(file);
    };
    for (const file of graph.keys()) visit(file, []);
    expect(cycles).toEqual([]);
  });

  it("name existing files, with their extension", () => {
    const missing = relativeImports.filter(
      ({ to }) => !sources.includes(to) && !/\.(css|svg|json)$/.test(to),
    );
    expect(missing).toEqual([]);
  });
});
