import { createHash } from "node:crypto";
import { lstat, readdir, readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { extname, join } from "node:path";

export interface StaticFile {
  readonly body: Buffer;
  /** The same, compressed by the build; in the order in which they are preferred. */
  readonly encoded: readonly { readonly encoding: "br" | "gzip"; readonly body: Buffer }[];
  readonly contentType: string;
  readonly etag: string;
  readonly cacheControl: string;
}

/** The page's files, by request path. What is not in the map does not exist: no name of a request ever reaches the disk. */
export type StaticFiles = ReadonlyMap<string, StaticFile>;

const maxFiles = 2_000;
const maxTotalBytes = 64 * 1024 * 1024;

const contentTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".webmanifest": "application/manifest+json; charset=utf-8",
  ".svg": "image/svg+xml; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".webp": "image/webp",
  ".woff2": "font/woff2",
  ".wasm": "application/wasm",
};

/** A bundler's content hash before the extension (`app-B4xK9z_1.js`): such a file never changes under its name. */
const hashedName = /[.-](?=[\w-]*[0-9A-Z])[\w-]{8}\.[a-z0-9]+$/;

/**
 * Reads the built page from `folder` into memory. Regular files only: links and names that start with a dot are left out.
 * An absent folder gives an empty map; one that is too large throws.
 */
export async function loadStaticFiles(folder: string): Promise<StaticFiles> {
  const files = new Map<string, StaticFile>();
  const compressed = new Map<string, Buffer>();
  let totalBytes = 0;

  async function visit(path: string, prefix: string): Promise<void> {
    for (const entry of await readdir(path, { withFileTypes: true })) {
      if (entry.name.startsWith(".")) continue;
      const entryPath = join(path, entry.name);
      if (entry.isDirectory()) await visit(entryPath, `${prefix}${entry.name}/`);
      else if (entry.isFile()) {
        const body = await readFile(entryPath);
        totalBytes += body.length;
        if (files.size >= maxFiles || totalBytes > maxTotalBytes)
          throw new Error(`${folder} holds more than a built page would`);
        const requestPath = `${prefix}${encodeURIComponent(entry.name)}`;
        if (/\.(?:br|gz)$/.test(entry.name)) compressed.set(requestPath, body);
        else files.set(requestPath, toStaticFile(entry.name, body));
      }
    }
  }

  const found = await lstat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (found?.isDirectory()) await visit(folder, "/");
  for (const [path, file] of files) files.set(path, withEncodings(file, path, compressed));
  const index = files.get("/index.html");
  if (index) files.set("/", index);
  return files;
}

function toStaticFile(name: string, body: Buffer): StaticFile {
  return {
    body,
    encoded: [],
    contentType: contentTypes[extname(name).toLowerCase()] ?? "application/octet-stream",
    etag: `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`,
    cacheControl: hashedName.test(name) ? "public, max-age=31536000, immutable" : "no-cache",
  };
}

function withEncodings(file: StaticFile, path: string, compressed: ReadonlyMap<string, Buffer>): StaticFile {
  const variants = [
    { encoding: "br", body: compressed.get(`${path}.br`) },
    { encoding: "gzip", body: compressed.get(`${path}.gz`) },
  ] as const;
  const encoded = variants.flatMap(({ encoding, body }) => (body ? [{ encoding, body }] : []));
  return { ...file, encoded };
}

/** True for a path (without query, as it came) that is a file of the page. */
export function isStaticPath(files: StaticFiles, rawPath: string): boolean {
  return files.has(rawPath);
}

export interface StaticAnswer {
  readonly status: 200 | 304;
  readonly headers: Readonly<Record<string, string>>;
  /** Null for 304 and HEAD. */
  readonly body: Buffer | null;
}

/**
 * Answers a GET or HEAD for a file of the page, with `If-None-Match` (RFC 9110, section 13.1.2) and `Accept-Encoding`
 * honoured. A compressed body is another representation, so it has another etag.
 */
export function answerStatic(file: StaticFile, request: IncomingMessage): StaticAnswer {
  const accepted = file.encoded.find(({ encoding }) =>
    acceptsEncoding(request.headers["accept-encoding"], encoding),
  );
  const body = accepted?.body ?? file.body;
  const etag = accepted ? file.etag.replace(/"$/, `-${accepted.encoding}"`) : file.etag;
  const headers = {
    "content-type": file.contentType,
    "cache-control": file.cacheControl,
    etag,
    ...(file.encoded.length > 0 ? { vary: "accept-encoding" } : {}),
    ...(accepted ? { "content-encoding": accepted.encoding } : {}),
  };
  if (matchesEtag(request.headers["if-none-match"], etag)) return { status: 304, headers, body: null };
  const withLength = { ...headers, "content-length": String(body.length) };
  return { status: 200, headers: withLength, body: request.method === "HEAD" ? null : body };
}

/** True when the header names the coding without forbidding it (`q=0`). `*` is not taken: whoever wants it names it. */
function acceptsEncoding(rawHeader: string | string[] | undefined, encoding: string): boolean {
  return String(rawHeader ?? "")
    .split(",")
    .map((part) =>
      part
        .trim()
        .toLowerCase()
        .split(/\s*;\s*/),
    )
    .some(([name, quality]) => name === encoding && !/^q=0(?:\.0*)?$/.test(quality ?? ""));
}

function matchesEtag(rawHeader: string | undefined, etag: string): boolean {
  if (rawHeader === undefined) return false;
  return rawHeader
    .split(",")
    .map((part) => part.trim())
    .some((part) => part === "*" || part === etag || part === `W/${etag}`);
}
