import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Browser, chromium as playwright } from "playwright-core";

const repository = new URL("../../", import.meta.url).pathname;
const cache = join(repository, "node_modules", ".cache", "sallyport-test");
let unpacked: Promise<string> | null = null;

/** A real Chromium without a window. More arguments switch on what a test needs, such as a camera that shows a file. */
export async function launchBrowser(args: readonly string[] = []): Promise<Browser> {
  // The package has a Chromium for Linux alone.
  if (process.platform !== "linux") return playwright.launch({ channel: "chrome", args: [...args] });
  unpacked ??= unpack();
  const folder = await unpacked;
  return playwright.launch({
    executablePath: join(folder, "chromium"),
    args: ["--no-sandbox", "--disable-gpu", "--headless=shell", ...args],
    // What a bare machine lacks.
    env: { ...process.env, LD_LIBRARY_PATH: join(folder, "al2023", "lib") },
  });
}

/**
 * The folder of the browser and its libraries. The package unpacks them into the system's folder for temporary files as
 * they come, where another test file, at the same time, would start one that is not whole yet.
 */
async function unpack(): Promise<string> {
  const manifest = join(repository, "node_modules", "@sparticuz", "chromium", "package.json");
  const { version } = JSON.parse(await readFile(manifest, "utf8")) as { version: string };
  const folder = join(cache, `chromium-${version}`);
  if (existsSync(folder)) return folder;
  const temporary = `${folder}.${process.pid}`;
  await mkdir(temporary, { recursive: true });
  const script = 'import chromium from "@sparticuz/chromium"; await chromium.executablePath();';
  await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: repository,
    // It unpacks the libraries only where it believes to be there.
    env: { ...process.env, TMPDIR: temporary, AWS_EXECUTION_ENV: "AWS_Lambda_nodejs20.x" },
  });
  // Another test file may have been faster: its result is the same.
  await rename(temporary, folder).catch(() => rm(temporary, { recursive: true, force: true }));
  return folder;
}

/** A phone and a desk, as every page has to fit them. */
export const viewports = {
  phone: { width: 390, height: 844 },
  desk: { width: 1280, height: 800 },
} as const;
