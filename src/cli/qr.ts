import type { Output } from "./io.ts";

/**
 * Draws `text` as a QR code in half blocks; null where the terminal is too narrow for one that can be scanned. With
 * colours it is black on white whatever the terminal's own are; without them it is drawn for a dark terminal.
 */
export async function drawQr(
  text: string,
  output: Pick<Output, "columns">,
  options: { readonly colours: boolean },
): Promise<string | null> {
  const { create } = await import("qrcode");
  const { modules } = create(text, { errorCorrectionLevel: "L" });
  const rows = halfBlocks(modules.data, modules.size, options.colours);
  const width = modules.size + 2 * quietZone;
  if (width > output.columns) return null;
  return options.colours ? rows.map((row) => `\u001b[30;107m${row}\u001b[0m`).join("\n") : rows.join("\n");
}

const quietZone = 2;

/** Two modules a character, with the quiet zone around. `inkIsDark` false: what is printed is light. */
export function halfBlocks(data: ArrayLike<number>, size: number, inkIsDark: boolean): readonly string[] {
  const isDark = (row: number, column: number): boolean =>
    row >= 0 && column >= 0 && row < size && column < size && data[row * size + column] === 1;
  const rows: string[] = [];
  for (let row = -quietZone; row < size + quietZone; row += 2) {
    let line = "";
    for (let column = -quietZone; column < size + quietZone; column++) {
      const top = isDark(row, column) === inkIsDark;
      const bottom = isDark(row + 1, column) === inkIsDark;
      line += top ? (bottom ? "█" : "▀") : bottom ? "▄" : " ";
    }
    rows.push(line);
  }
  return rows;
}

/** NO_COLOR (https://no-color.org) and terminals that have none. */
export function hasColours(
  output: Pick<Output, "isTerminal">,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  return output.isTerminal && (env.NO_COLOR ?? "") === "" && env.TERM !== "dumb";
}
