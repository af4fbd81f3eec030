import { plainText } from "../lib/visible-text.ts";
import { readableLine } from "./json-line.ts";
import type { Finding, ProblemFinding, TunnelPlan } from "./provider.ts";
import { stripAnsi } from "./public-url.ts";
import { createRedactor } from "./redact-secrets.ts";

const maxTextLength = 300;
const maxCandidates = 4;

/** What one run of a tool has said so far, as far as it matters. */
export interface ToolTalk {
  hear(line: string): void;
  /** It has been up for a while: what stood in the way before does so no more. */
  forgive(): void;
  /** Addresses in the order in which they were named. */
  readonly candidates: readonly string[];
  readonly isReady: boolean;
  /** What a person must do; null while nothing. */
  readonly waiting: { readonly text: string; readonly link: string | null } | null;
  readonly problem: Omit<ProblemFinding, "kind"> | null;
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
  let hasNamed = false;

  /** What tools print may be anybody's text. */
  function clean(text: string): string {
    return plainText(text).trim().slice(0, maxTextLength);
  }

  function take(finding: Finding): void {
    switch (finding.kind) {
      case "url":
        hasNamed = true;
        waiting = null;
        if (finding.isReady === true) connected();
        if (candidates.includes(finding.url)) break;
        candidates.push(finding.url);
        if (candidates.length > maxCandidates) candidates.shift();
        break;
      case "ready":
        waiting = null;
        connected();
        break;
      case "waiting":
        // Behind its own address a tool invites to visit it, and more of the kind.
        if (hasNamed || candidates.some((url) => finding.link?.startsWith(url))) return;
        waiting = { text: clean(finding.text), link: finding.link ?? waiting?.link ?? null };
        break;
      case "problem":
        // What explains is not covered up by what only complains; of two that explain the first is nearer to the cause.
        if (problem !== null && weight(problem) > weight(finding)) return;
        if (problem?.isKnown && weight(problem) === weight(finding)) return;
        problem = { ...finding, text: clean(finding.text) };
        break;
    }
    onNews();
  }

  function connected(): void {
    isReady = true;
    if (problem?.isKnown !== true) problem = null;
  }

  return {
    hear(rawLine) {
      if (rawLine === lastRaw) return;
      lastRaw = rawLine;
      // Tools repeat what they were given, tokens included: nobody behind this sees one.
      const line = redact(stripAnsi(rawLine));
      const text = clean(readableLine(line));
      if (text !== "") lastLine = text;
      const finding = read(line);
      if (finding !== null) take(finding);
    },
    forgive() {
      problem = null;
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

const weight = ({ final, isKnown }: Omit<ProblemFinding, "kind">): number =>
  (final ? 2 : 0) + (isKnown ? 1 : 0);
