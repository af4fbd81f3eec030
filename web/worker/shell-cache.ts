/** What a kept shell is made of. */
export interface Shell {
  /** Address of the page with a trailing slash: several daemons may lie below one origin, which has one storage. */
  readonly scope: string;
  /** Changes with any of the files. */
  readonly hash: string;
  /** Paths below the scope of what the first view needs; their names change with what they hold. */
  readonly files: readonly string[];
}

type Fetch = (request: Request | string, init?: RequestInit) => Promise<Response>;
type Caches = Pick<CacheStorage, "open" | "keys" | "delete">;

/** Files of the first view with names that never change. */
const named = ["./", "icon.svg", "manifest.webmanifest"];
/** A line that is so slow is no line: the kept page comes up and says what is wrong. */
const pageTimeoutMs = 4_000;

/** Loads all files of the first view. Rejects when one is missing: half a page is of no use. */
export async function keepShell(shell: Shell, caches: Caches, fetch: Fetch): Promise<void> {
  const cache = await caches.open(cacheName(shell));
  const keep = async (path: string, mode: RequestCache): Promise<void> => {
    const url = new URL(path, shell.scope).href;
    const answer = await fetch(url, { cache: mode, credentials: "omit" });
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
    await cache.put(url, answer);
  };
  await Promise.all([
    ...named.map((path) => keep(path, "no-cache")),
    // The page has just loaded them: they need not come over the line again.
    ...shell.files.map((path) => keep(path, "default")),
  ]);
}

/** Removes what other versions kept for this page. */
export async function forgetOldShells(shell: Shell, caches: Caches): Promise<void> {
  const own = cacheName(shell);
  const names = await caches.keys();
  await Promise.all(
    names
      .filter((name) => name.startsWith(prefixOf(shell)) && name !== own)
      .map((name) => caches.delete(name)),
  );
}

/** True for the page itself and its files; never for `/api`, `/mew`, another method or another origin. */
export function shouldAnswer({ scope }: Shell, request: Pick<Request, "method" | "url" | "mode">): boolean {
  if (request.method !== "GET" || !request.url.startsWith(scope)) return false;
  const path = pathBelow(scope, request.url);
  if (request.mode === "navigate") return path === "" || path === "index.html";
  return path.startsWith("assets/") || path.startsWith("icon") || named.includes(path);
}

/**
 * The page comes from the network, so that a new version is seen at once, and from what is kept when there is none. Its
 * files change their names when they change, so what is kept of them is right.
 */
export async function answerFromShell(
  shell: Shell,
  request: Request,
  caches: Caches,
  fetch: Fetch,
): Promise<Response> {
  const cache = await caches.open(cacheName(shell));
  if (request.mode === "navigate") {
    const answer = await pageFromNetwork(shell.scope, fetch);
    return answer ?? (await cache.match(shell.scope, { ignoreVary: true })) ?? Response.error();
  }
  const kept = await cache.match(request, { ignoreVary: true, ignoreSearch: true });
  if (kept !== undefined) return kept;
  const answer = await fetch(request);
  if (answer.ok && pathBelow(shell.scope, request.url).startsWith("assets/"))
    await cache.put(request, answer.clone());
  return answer;
}

/** A refusal of the daemon (remote access off) says why itself; a proxy's error page helps nobody, so it counts as none. */
async function pageFromNetwork(scope: string, fetch: Fetch): Promise<Response | null> {
  try {
    const signal = AbortSignal.timeout(pageTimeoutMs);
    const answer = await fetch(scope, { cache: "no-cache", credentials: "omit", signal });
    return answer.status < 500 ? answer : null;
  } catch {
    return null; // Offline, or too slow.
  }
}

function cacheName(shell: Shell): string {
  return prefixOf(shell) + shell.hash;
}

function prefixOf({ scope }: Shell): string {
  return `sallyport-shell ${new URL(scope).pathname} `;
}

function pathBelow(scope: string, url: string): string {
  return url.slice(scope.length).split(/[?#]/, 1)[0] ?? "";
}
