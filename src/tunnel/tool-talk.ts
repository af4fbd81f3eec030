import { plainText } from "../lib/visible-text.ts";
import type { Finding, TunnelPlan } from "./provider.ts";
import { stripAnsi } from "./public-url.ts";
import { createRedactor } from "./redact-secrets.ts";

const maxTextLength = 300;
const maxCandidates = 4;

/** What one run of a tool has said so far, as far as it matters. */
export interface ToolTalk {
  hear(line: string): void;
  /** Addresses in the order in which they were named. */
  readonly candidates: readonly string[];
  readonly isReady: boolean;
  /** What a person must do; null while nothing. */
  readonly waiting: { readonly text: string; readonly link: string | null } | null;
  readonly problem: { readonly text: string; readonly final: boolean } | null;
  /** The last thing it said. */
  readonly lastLine: string | null;
}

/** @param onNews something other than the last line has changed */
export function createToolTalk(plan: TunnelPlan, onNews: () => void): ToolTalk {
  const read = plan.createReader();
  const redact = createRedactor(plan.secrets);
  const candidates: string[] = plan.publicUrl === null ? [] : [plan.publicUrl];
  let isReady = false;
  let waiting: ToolTalk["waiting"] = null;
  let problem: ToolTalk["problem"] = null;
  let lastLine: string | null = null;
  let lastRaw = "";

  /** What tools print may be anybody's text. */
  function clean(text: string): string {
    return plainText(text).trim().slice(0, maxTextLength);
  }

  function take(finding: Finding): void {
    switch (finding.kind) {
      case "url":
        isReady ||= finding.isReady === true;
        if (candidates.includes(finding.url)) break;
        candidates.push(finding.url);
        if (candidates.length > maxCandidates) candidates.shift();
        waiting = null;
        break;
      case "ready":
        isReady = true;
        waiting = null;
        break;
      case "waiting":
        waiting = { text: clean(finding.text), link: finding.link ?? waiting?.link ?? null };
        break;
      case "problem":
        // A text that explains is not covered up by a later one that only complains.
        if (problem?.final && !finding.final) return;
        problem = { text: clean(finding.text), final: finding.final };
        break;
    }
    onNews();
  }

  return {
    hear(rawLine) {
      if (rawLine === lastRaw) return;
      lastRaw = rawLine;
      // Tools repeat what they were given, tokens included: nobody behind this sees one.
      const line = redact(stripAnsi(rawLine));
      const text = clean(line);
      if (text !== "") lastLine = text;
      const finding = read(line);
      if (finding !== null) take(finding);
    },
    candidates,
    get isReady() {
      return isReady;
    },
    get waiting() {
      return waiting;
    },
    get problem() {
      return problem;
    },
    get lastLine() {
      return lastLine;
    },
  };
}
