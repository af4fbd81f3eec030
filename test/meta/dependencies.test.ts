import { describe, expect, it } from "vitest";
import { readRepoFile } from "./sources.ts";

interface Manifest {
  readonly dependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
}

interface LockFile {
  readonly packages: Record<string, { readonly optionalDependencies?: Record<string, string> }>;
}

const manifest = JSON.parse(readRepoFile("package.json")) as Manifest;
const [runtimePart = "", developmentPart = ""] =
  readRepoFile("docs/dependencies.md").split("## For development");
const namesIn = (part: string): string[] =>
  part
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .flatMap((line) => [...(line.split("|")[1] ?? "").matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? ""))
    .sort();

describe("dependencies", () => {
  it("at run time each have a reason in docs/dependencies.md", () => {
    expect(namesIn(runtimePart)).toEqual(Object.keys(manifest.dependencies).sort());
  });

  it("for development each have a reason in docs/dependencies.md", () => {
    expect(namesIn(developmentPart)).toEqual(Object.keys(manifest.devDependencies).sort());
  });

  it("are pinned to exact versions", () => {
    const loose = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies }).filter(
      ([, version]) => !/^(npm:@?[\w./-]+@)?\d+\.\d+\.\d+$/.test(version),
    );
    expect(loose).toEqual([]);
  });

  // A registry without one of them makes `npm install` leave it out in silence, and `npm ci` then refuses to start.
  it("are all in the lock file, those for other systems too", () => {
    const { packages } = JSON.parse(readRepoFile("package-lock.json")) as LockFile;
    const locked = new Set(Object.keys(packages).map((path) => path.split("node_modules/").at(-1)));
    const missing = Object.values(packages)
      .flatMap((each) => Object.keys(each.optionalDependencies ?? {}))
      .filter((name) => !locked.has(name));
    expect(missing).toEqual([]);
  });
});
