import { resolve } from "node:path";
import { acpLimits } from "./acp-limits.ts";
import { boundedValue, cutText, listOf, objectOf, textOf } from "./raw-values.ts";
import type { FileChange } from "./tool-call.ts";

/** What stands in the content of a tool call: its texts, a line each, and the changes to files. */
export function readCallContent(
  rawContent: readonly unknown[],
  cwd: string,
): { readonly text: string; readonly changes: readonly FileChange[] } {
  const texts: string[] = [];
  const changes: FileChange[] = [];
  for (const each of listOf(rawContent, 200)) {
    const item = objectOf(each);
    if (item.type === "content") texts.push(contentText(item.content));
    if (item.type !== "diff") continue;
    const path = textOf(item.path, 4_096);
    if (path === null || typeof item.newText !== "string") continue;
    const before = typeof item.oldText === "string" ? item.oldText : null;
    changes.push({ path: resolve(cwd, path), before, after: item.newText });
  }
  return { text: texts.join("\n"), changes };
}

/** The text of a content block; what is no text is named. */
export function contentText(raw: unknown): string {
  const block = objectOf(raw);
  if (block.type === "text") return typeof block.text === "string" ? block.text : "";
  if (block.type === "resource") {
    const { text } = objectOf(block.resource);
    return typeof text === "string" ? text : "[a resource]";
  }
  if (block.type === "resource_link") return `[${textOf(block.uri, 1_000) ?? "a link"}]`;
  if (block.type === "image") return "[an image]";
  if (block.type === "audio") return "[audio]";
  return "";
}

/** The text of what a tool gave back, in whatever shape its agent passes it on; not cut. */
export function outputText(raw: unknown): string {
  if (typeof raw === "string") return raw;
  const { output, stdout, formatted_output: formatted } = objectOf(raw);
  const text = [formatted, output, stdout].find((each) => typeof each === "string");
  return typeof text === "string" ? text : JSON.stringify(boundedValue(raw, 10_000));
}

/** As much of an output as is kept; what is left out is said. */
export function cutOutput(text: string): string {
  if (text.length <= acpLimits.outputChars) return cutText(text, acpLimits.outputChars);
  const left = text.length - acpLimits.outputChars;
  return `${cutText(text, acpLimits.outputChars)}\n[${left} characters left out]\n`;
}
