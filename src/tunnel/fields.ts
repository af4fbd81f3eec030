import { SallyportError } from "../errors.ts";
import type { PlanInput, RawFields } from "./provider.ts";
import { readPublicUrl, type UrlProblem } from "./public-url.ts";

/** Reads the fields of one request and of the configuration; a request's own come first. */
export interface FieldReader {
  /** A text that must match as a whole; null when it is in neither. */
  text(name: string, pattern: RegExp, mustBe: string): string | null;
  integer(name: string, min: number, max: number): number | null;
  flag(name: string): boolean;
  /** A public base address. */
  url(name: string): string | null;
  /** A credential: printable ASCII without spaces. Never repeated in an error. */
  secret(name: string): string | null;
  /** Names a program or a file, so the configuration alone may say it. */
  fromConfig(name: string): unknown;
  /** To be called last: refuses whatever nobody asked for. */
  end(): void;
  /** The refusal for a field. */
  refuse(name: string, mustBe: string): never;
}

const urlProblems: Readonly<Record<UrlProblem, string>> = {
  malformed: "must be an address like https://sally.example or https://sally.example/base",
  not_https:
    "must begin with https:// (or set tunnel.insecure_http in config.toml, which anybody in between can read)",
  credentials: "must have no user name or password in it",
  query: "must have no ? and no # in it",
};

/**
 * @param provider the section of the configuration that a refusal names; a bad value throws `invalid_field` with the name of
 * its field
 */
export function createFieldReader(provider: string, input: PlanInput): FieldReader {
  const { rawFields, settings } = input;
  const asked = new Set<string>();
  const onlyConfig = new Set<string>(["binary"]);

  function refuse(name: string, mustBe: string): never {
    const inConfig = !Object.hasOwn(rawFields, name) && Object.hasOwn(settings, name);
    const where = inConfig ? `tunnel.${provider}.${name} in config.toml` : name;
    throw new SallyportError("invalid_field", `${where} ${mustBe}.`, { field: name });
  }

  function raw(name: string): unknown {
    asked.add(name);
    return own(rawFields, name) ?? own(settings, name);
  }

  return {
    refuse,
    text(name, pattern, mustBe) {
      const value = raw(name);
      if (value === undefined) return null;
      if (typeof value !== "string" || !pattern.test(value)) refuse(name, `must be ${mustBe}`);
      return value;
    },
    integer(name, min, max) {
      const value = raw(name);
      if (value === undefined) return null;
      if (typeof value !== "number" || !Number.isInteger(value) || value < min || value > max)
        refuse(name, `must be a whole number from ${min} to ${max}`);
      return value;
    },
    flag(name) {
      const value = raw(name) ?? false;
      if (typeof value !== "boolean") refuse(name, "must be true or false");
      return value;
    },
    url(name) {
      const value = raw(name);
      if (value === undefined) return null;
      if (typeof value !== "string") refuse(name, urlProblems.malformed);
      const read = readPublicUrl(value, input.insecureHttp);
      return read.ok ? read.url : refuse(name, urlProblems[read.problem]);
    },
    secret(name) {
      const value = raw(name);
      if (value === undefined) return null;
      if (typeof value !== "string" || !/^[!-~]{8,1024}$/.test(value))
        refuse(name, "must be a token as the service gave it: 8 to 1,024 characters, no spaces");
      return value;
    },
    fromConfig(name) {
      onlyConfig.add(name);
      return own(settings, name);
    },
    end() {
      for (const name of Object.keys(rawFields)) {
        if (onlyConfig.has(name))
          refuse(
            name,
            `names a program or a file of this machine: set tunnel.${provider}.${name} in config.toml`,
          );
        if (!asked.has(name))
          refuse(name, `is no field of ${provider}. Fields: ${[...asked].join(", ") || "none"}`);
      }
      for (const name of Object.keys(settings))
        if (!asked.has(name) && !onlyConfig.has(name))
          refuse(name, `is no field of ${provider}. Fields: ${[...asked, ...onlyConfig].join(", ")}`);
    },
  };
}

function own(fields: RawFields, name: string): unknown {
  return Object.hasOwn(fields, name) ? (fields[name] ?? null) : undefined;
}

/** A path or program name out of the configuration, or null. */
export function configPath(fields: FieldReader, name: string): string | null {
  const value = fields.fromConfig(name);
  if (value === undefined) return null;
  if (typeof value !== "string" || value === "" || value.includes("\0"))
    fields.refuse(name, "must be the path of a file");
  return value;
}
