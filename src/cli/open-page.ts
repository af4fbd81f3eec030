import { spawn } from "node:child_process";
import { readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { createFileExclusive } from "../lib/atomic-file.ts";
import { randomSecret } from "../lib/ids.ts";
import type { Call } from "./command.ts";
import type { DaemonLink } from "./find-daemon.ts";

/** The ticket in the file counts once and for 30 s; the file need not outlive it. */
const keepMs = 30_000;

/**
 * Opens the page in this machine's browser. The ticket that lets it in never stands in an argv, which others can read: the
 * browser is given a file that only this user can read, and the file leads to the page.
 */
export async function openPage(call: Call, link: DaemonLink): Promise<void> {
  const { ticket } = await link.rest.body<{ ticket: string }>("POST", "/api/ws/ticket", { purpose: "page" });
  await removeOldPages(call.paths.home);
  const path = join(call.paths.home, `open-${randomSecret(9)}.html`);
  await createFileExclusive(path, pageThatLeadsTo(`${link.file.url}/#ticket=${encodeURIComponent(ticket)}`));
  if (!(await openInBrowser(call, path, link.file.url))) {
    await unlink(path);
    return;
  }
  // A command that ends before leaves the file to the next one; its ticket is worth nothing by then.
  setTimeout(() => void unlink(path).catch(() => undefined), keepMs).unref();
}

/** Opens an address that holds no secret. */
export async function openAddress(call: Call, url: string): Promise<void> {
  await openInBrowser(call, url, url);
}

/** @param shown the address without secrets */
async function openInBrowser(call: Call, what: string, shown: string): Promise<boolean> {
  const [program, ...words] = openerOf(call.io.platform, what);
  const child = spawn(program, words, { detached: true, stdio: "ignore" });
  const hasStarted = await new Promise<boolean>((resolve) => {
    child.once("spawn", () => resolve(true));
    child.once("error", () => resolve(false));
  });
  child.unref();
  await call.out.note(
    hasStarted
      ? `Opening ${shown} in the browser.`
      : `sallyport: no browser could be opened (${program}). Open ${shown} by hand.`,
  );
  return hasStarted;
}

/** What opens a file or address in the browser, as program and words. */
function openerOf(platform: NodeJS.Platform, path: string): [string, ...string[]] {
  if (platform === "darwin") return ["open", path];
  if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler", path];
  return ["xdg-open", path];
}

async function removeOldPages(home: string): Promise<void> {
  for (const name of await readdir(home))
    if (/^open-[A-Za-z0-9_-]+\.html$/.test(name)) await unlink(join(home, name)).catch(() => undefined);
}

function pageThatLeadsTo(url: string): string {
  const attribute = url.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
  return `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=${attribute}"><a href="${attribute}">Open Sallyport</a>\n`;
}
