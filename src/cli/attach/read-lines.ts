import { StringDecoder } from "node:string_decoder";
import { usageError } from "../cli-error.ts";

/** A prompt may have as many characters (docs/protocol.md, "Limits"). */
const maxLineChars = 1024 * 1024;

/** The lines of a pipe, without their ends. A last line without an end counts. Wrong usage for one that no prompt could hold. */
export async function* readLines(input: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, void> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  for await (const chunk of input) {
    const lines = (rest + decoder.write(Buffer.from(chunk))).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield line.replace(/\r$/, "");
    if (rest.length > maxLineChars)
      throw usageError("A line of the input is longer than a prompt may be (1 MiB).");
  }
  rest += decoder.end();
  if (rest !== "") yield rest.replace(/\r$/, "");
}
