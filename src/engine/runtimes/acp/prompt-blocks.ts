import { pathToFileURL } from "node:url";
import type { PromptPart } from "../../attachments/prompt-part.ts";

export interface PromptCapabilities {
  readonly image: boolean;
  /** Files may be sent along with their text. */
  readonly embeddedContext: boolean;
}

/**
 * The parts of a prompt as content blocks (ACP, "Content"). What the agent does not take is said in words: a text file as a
 * fenced block, an image by its name.
 */
export function promptBlocks(parts: readonly PromptPart[], can: PromptCapabilities): readonly unknown[] {
  return parts.flatMap((part): unknown[] => {
    if (part.type === "image")
      return can.image
        ? [{ type: "image", mimeType: part.mime, data: Buffer.from(part.bytes).toString("base64") }]
        : [{ type: "text", text: `(The image ${part.name} was left out: this agent takes none.)` }];
    const { file } = part;
    if (file && file.text === null)
      return [
        { type: "text", text: part.text },
        { type: "resource_link", uri: uriOf(file.path), name: file.name },
      ];
    if (file && can.embeddedContext)
      return [
        { type: "resource", resource: { uri: uriOf(file.path), mimeType: "text/plain", text: file.text } },
      ];
    return part.text === "" ? [] : [{ type: "text", text: part.text }];
  });
}

function uriOf(path: string): string {
  return pathToFileURL(path).href;
}
