import { visible } from "./visible-text.ts";

/** What would run, whole: every hidden character is written out; line feeds and tabs keep their look. */
export function visibleCall(text: string): string {
  return text.split("\t").map(visible).join("\t");
}
