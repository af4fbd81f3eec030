import { SallyportError } from "../errors.ts";
import { limits } from "../protocol/limits.ts";

/** Control and format characters (bidi overrides, zero-width ones), line separators and lone surrogates. */
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * The name that a device chose, made fit to be shown beside others: control and bidi characters are left out, so that no
 * name can imitate another line of a list.
 *
 * @throws SallyportError `invalid_field` (`name`) when nothing is left, or it is longer than 64 characters
 */
export function parseDeviceName(rawName: string): string {
  // Whitespace again at the end: what was left out may have parted two spaces.
  const name = rawName
    .replace(/\s+/gu, " ")
    .replace(invisible, "")
    .replace(/ +/g, " ")
    .trim()
    .normalize("NFC");
  if (name === "")
    throw new SallyportError("invalid_field", "Give the device a name that can be read.", { field: "name" });
  if ([...name].length > limits.deviceNameChars)
    throw new SallyportError(
      "invalid_field",
      `A device name has at most ${limits.deviceNameChars} characters.`,
      {
        field: "name",
      },
    );
  return name;
}
