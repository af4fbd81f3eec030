import { readFileSync } from "node:fs";

/** Replaced by the bundler with the version of package.json; not defined when the sources run as they are. */
declare const __SALLYPORT_VERSION__: string | undefined;

/** The version of this program, as in package.json. */
export const version: string =
  typeof __SALLYPORT_VERSION__ === "string" ? __SALLYPORT_VERSION__ : versionOfPackage();

function versionOfPackage(): string {
  const raw: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  if (typeof raw === "object" && raw !== null && "version" in raw && typeof raw.version === "string")
    return raw.version;
  throw new TypeError("package.json has no version");
}
