import { signal } from "@preact/signals";

/**
 * Pages have addresses behind the `#`: the page may live below any base path, and the daemon serves one file for all of
 * them. `#/jobs/3fa9c210` is the path `/jobs/3fa9c210`.
 */
export const path = signal(pathOf(location.hash));

/** The path in a fragment; `/` where there is none. */
function pathOf(hash: string): string {
  return hash.startsWith("#/") ? hash.slice(1) : "/";
}

/** For links: `<a href={hrefOf("/jobs")}>`. */
export function hrefOf(to: string): string {
  return `#${to}`;
}

/** Goes to a page. `replace`: Back does not return to this one. */
export function navigate(to: string, options: { readonly replace?: boolean } = {}): void {
  if (to === path.peek()) return;
  if (options.replace) {
    history.replaceState(null, "", hrefOf(to));
    path.value = to;
  } else location.hash = to;
}

addEventListener("hashchange", () => {
  path.value = pathOf(location.hash);
});

/**
 * The parameters of `at` under `pattern`, or null where it is another page: `/jobs/:job?` matches `/jobs` and `/jobs/x`.
 * A query behind `?` of the path is no part of it.
 */
export function match(pattern: string, at: string): Readonly<Record<string, string>> | null {
  const wanted = pattern.split("/").filter((part) => part !== "");
  const given = (at.split("?", 1)[0] ?? "").split("/").filter((part) => part !== "");
  if (given.length > wanted.length) return null;
  const found: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index];
    const name = /^:(\w+)(\??)$/.exec(part);
    if (name === null) {
      if (value !== part) return null;
    } else if (value !== undefined) found[name[1] ?? ""] = decoded(value);
    else if (name[2] === "") return null;
  }
  return found;
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value; // Typed by hand; then it is what it is.
  }
}
