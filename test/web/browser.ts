import chromium from "@sparticuz/chromium";
import { type Browser, chromium as playwright } from "playwright-core";

/** A real Chromium without a window. More arguments switch on what a test needs, such as a camera that shows a file. */
export async function launchBrowser(args: readonly string[] = []): Promise<Browser> {
  // The package unpacks the libraries that a bare machine lacks only where it believes to be there.
  process.env.AWS_EXECUTION_ENV ??= "AWS_Lambda_nodejs20.x";
  return playwright.launch({
    executablePath: await chromium.executablePath(),
    args: ["--no-sandbox", "--disable-gpu", "--headless=shell", ...args],
  });
}

/** A phone and a desk, as every page has to fit them. */
export const viewports = {
  phone: { width: 390, height: 844 },
  desk: { width: 1280, height: 800 },
} as const;
