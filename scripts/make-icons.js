import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import chromium from "@sparticuz/chromium";
import { chromium as playwright } from "playwright-core";

// Draws web/static/icon-*.png, as installed pages and notifications need them: `node scripts/make-icons.js`. They are kept
// in the repository, so that a build needs no browser. The drawing is that of icon.svg.

const folder = join(dirname(fileURLToPath(import.meta.url)), "..", "web", "static");
const gate =
  '<path fill="#f4efe4" d="M14 16h7v5h5v-5h12v5h5v-5h7v32H38V38a6 6 0 0 0-12 0v10H14z"/><path fill="#e0a94a" d="M29 48V38a3 3 0 0 1 6 0v10z"/>';
/** Only what is opaque counts on a phone's status line. */
const badge = '<path fill="#fff" d="M10 12h9v7h7v-7h12v7h7v-7h9v42H40V41a8 8 0 0 0-16 0v13H10z"/>';
const icons = [
  { name: "icon-192.png", size: 192, radius: 14, scale: 1, drawing: gate },
  { name: "icon-512.png", size: 512, radius: 14, scale: 1, drawing: gate },
  // A platform cuts its own shape out of these: all that matters lies within the middle four fifths.
  { name: "icon-maskable-192.png", size: 192, radius: 0, scale: 0.86, drawing: gate },
  { name: "icon-maskable-512.png", size: 512, radius: 0, scale: 0.86, drawing: gate },
  { name: "icon-apple-180.png", size: 180, radius: 0, scale: 0.96, drawing: gate },
  { name: "icon-badge-96.png", size: 96, radius: null, scale: 1, drawing: badge },
];

process.env.AWS_EXECUTION_ENV ??= "AWS_Lambda_nodejs20.x";
const browser = await playwright.launch({
  executablePath: await chromium.executablePath(),
  args: ["--no-sandbox", "--disable-gpu", "--headless=shell"],
});
for (const { name, size, radius, scale, drawing } of icons) {
  const page = await browser.newPage({ viewport: { width: size, height: size } });
  const ground = radius === null ? "" : `<rect width="64" height="64" rx="${radius}" fill="#1f4d45"/>`;
  const move = `translate(${32 - 32 * scale} ${32 - 32 * scale}) scale(${scale})`;
  await page.setContent(
    `<body style="margin:0"><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" width="${size}" height="${size}" style="display:block">${ground}<g transform="${move}">${drawing}</g></svg>`,
  );
  await writeFile(join(folder, name), await page.screenshot({ omitBackground: true }));
  await page.close();
}
await browser.close();
