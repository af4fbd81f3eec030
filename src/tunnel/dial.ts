import { type Bell, createBell } from "./bell.ts";
import type { ProbeResult } from "./probe.ts";
import type { TunnelPlan } from "./provider.ts";
import { tailOutput } from "./tail-output.ts";
import type { TunnelTiming } from "./timing.ts";
import { createToolTalk, type ToolTalk } from "./tool-talk.ts";
import type { TunnelChild } from "./tunnel-child.ts";

/** The door that a tunnel leads to. */
export interface TunnelDoor {
  readonly port: number;
  /** What it answers to. */
  setAddress(url: string | null): void;
  /** The address that is put into links; null: none. */
  offer(url: string | null): void;
  close(): Promise<void>;
}

export type DialState =
  | { readonly state: "starting"; readonly text: string | null }
  | { readonly state: "waiting"; readonly text: string; readonly link: string | null }
  | { readonly state: "up"; readonly url: string };

export interface DialOptions {
  readonly provider: string;
  readonly plan: TunnelPlan;
  readonly child: TunnelChild;
  readonly door: TunnelDoor;
  readonly probe: (url: string, signal: AbortSignal) => Promise<ProbeResult>;
  readonly show: (state: DialState) => void;
  readonly timing: TunnelTiming;
  readonly monotonicNow: () => number;
  /** Known from before, of a tool that was taken over. */
  readonly knownUrl: string | null;
}

export interface DialEnd {
  readonly reason: string;
  /** Trying again will not help. */
  readonly final: boolean;
  /** How long it was up in one piece. */
  readonly upMs: number;
}

/** Watches one run of a tool until it is of no use any more: from its first word, over "up", to its end. */
export async function watchDial(options: DialOptions, signal: AbortSignal): Promise<DialEnd> {
  const bell = createBell();
  const talk = createToolTalk(options.plan, bell.ring);
  const tail = tailOutput(options.child.logPath, { onLine: talk.hear, secrets: options.plan.secrets });
  let exit: { readonly code: number | null } | null = null;
  void options.child.exited.then(async (code) => {
    await tail.close();
    exit = { code };
    bell.ring();
  });
  try {
    const found = await prove(options, talk, bell, () => exit !== null, signal);
    const stayed = found.ok
      ? await stayUp(options, talk, bell, found.url, () => exit !== null, signal)
      : null;
    const upMs = stayed?.upMs ?? 0;
    if (exit !== null) return { ...endOf(options.provider, talk, exit), upMs };
    if (stayed !== null) return { reason: withProblem(stayed.reason, talk), final: false, upMs };
    if (talk.problem?.final) return { reason: talk.problem.text, final: true, upMs };
    const hint = options.plan.hint(options.door.port);
    const unproved = found.ok ? [] : [found.reason, hint].filter((text) => text !== null);
    return { reason: withProblem(unproved.join(" "), talk), final: false, upMs };
  } finally {
    options.door.offer(null);
    await tail.close();
  }
}

type Proof = { readonly ok: true; readonly url: string } | { readonly ok: false; readonly reason: string };

/** Until an address is proved to lead here. */
async function prove(
  options: DialOptions,
  talk: ToolTalk,
  bell: Bell,
  hasEnded: () => boolean,
  signal: AbortSignal,
): Promise<Proof> {
  const { timing, monotonicNow, plan } = options;
  const startedMs = monotonicNow();
  let silentSinceMs = startedMs;
  let probingSinceMs: number | null = null;
  let hopelessSinceMs: number | null = null;
  let reason: string | null = null;
  while (!hasEnded() && !signal.aborted) {
    const urls = options.knownUrl === null ? talk.candidates : [options.knownUrl, ...talk.candidates];
    const isReady = !plan.tellsReady || talk.isReady || options.knownUrl !== null;
    const mayProbe = urls.length > 0 && (isReady || monotonicNow() - startedMs >= timing.readyMs);
    if (mayProbe) {
      probingSinceMs ??= monotonicNow();
      for (const url of [...urls]) {
        options.door.setAddress(url);
        const result = await options.probe(url, signal);
        if (result.ok) return { ok: true, url };
        reason = result.reason;
        if (hasEnded() || signal.aborted) break;
      }
      const givenMs = talk.waiting === null ? timing.proofMs : timing.personMs;
      if (monotonicNow() - probingSinceMs >= givenMs) break;
    }
    hopelessSinceMs = talk.problem?.final === true ? (hopelessSinceMs ?? monotonicNow()) : null;
    if (hopelessSinceMs !== null && monotonicNow() - hopelessSinceMs >= timing.hopelessMs) break;
    if (talk.waiting !== null) silentSinceMs = monotonicNow();
    else if (!mayProbe && monotonicNow() - silentSinceMs >= timing.addressMs && urls.length === 0)
      return { ok: false, reason: noAddress(options, talk) };
    if (hasEnded() || signal.aborted) break;
    options.show(
      talk.waiting === null ? starting(options, reason, talk) : { state: "waiting", ...talk.waiting },
    );
    await bell.wait(timing.probeEveryMs, signal);
  }
  return { ok: false, reason: reason ?? `${options.provider} has ended.` };
}

function starting(
  { plan, door, provider }: DialOptions,
  reason: string | null,
  { problem }: ToolTalk,
): DialState {
  const said = problem === null || problem.isKnown ? problem?.text : `${provider} says: ${problem.text}`;
  const texts = [reason, plan.hint(door.port), said ?? null].filter((text) => text !== null);
  return { state: "starting", text: texts.join(" ") || null };
}

/** From "up" until the tool ends or its address leads here no more. */
async function stayUp(
  options: DialOptions,
  talk: ToolTalk,
  bell: Bell,
  firstUrl: string,
  hasEnded: () => boolean,
  signal: AbortSignal,
): Promise<{ readonly reason: string; readonly upMs: number }> {
  const { timing, monotonicNow } = options;
  const sinceMs = monotonicNow();
  let url = firstUrl;
  let seen = talk.candidates.at(-1);
  let reason = "";
  const announce = (): void => {
    options.door.setAddress(url);
    options.door.offer(url);
    options.show({ state: "up", url });
  };
  announce();
  while (!hasEnded() && !signal.aborted) {
    const dueMs = monotonicNow() + timing.healthEveryMs;
    while (!hasEnded() && !signal.aborted && monotonicNow() < dueMs && talk.candidates.at(-1) === seen)
      await bell.wait(dueMs - monotonicNow(), signal);
    // An address that still leads here would make a live tunnel of a tool that is gone.
    if (hasEnded() || signal.aborted) break;
    seen = talk.candidates.at(-1);
    const health = await probeAgain(options, url, hasEnded, signal);
    if (health.ok) {
      talk.forgive();
      continue;
    }
    reason = health.reason;
    const other = await otherAddress(options, talk, url, hasEnded, signal);
    if (other === null) break;
    url = other;
    announce();
  }
  return { reason, upMs: monotonicNow() - sinceMs };
}

/** One failure may be the network's; several are the tunnel's. */
async function probeAgain(
  options: DialOptions,
  url: string,
  hasEnded: () => boolean,
  signal: AbortSignal,
): Promise<ProbeResult> {
  let result = await options.probe(url, signal);
  for (const afterMs of options.timing.retryAfterMs) {
    if (result.ok || hasEnded() || signal.aborted) break;
    await createBell().wait(afterMs, signal);
    result = await options.probe(url, signal);
  }
  return result;
}

/** A tool may have taken another name meanwhile. */
async function otherAddress(
  options: DialOptions,
  talk: ToolTalk,
  url: string,
  hasEnded: () => boolean,
  signal: AbortSignal,
): Promise<string | null> {
  for (const other of [...talk.candidates].reverse()) {
    if (other === url || hasEnded() || signal.aborted) continue;
    options.door.setAddress(other);
    if ((await options.probe(other, signal)).ok) return other;
  }
  return null;
}

function endOf(
  provider: string,
  talk: ToolTalk,
  exit: { readonly code: number | null },
): { readonly reason: string; readonly final: boolean } {
  const status = exit.code === null ? "" : ` (exit code ${exit.code})`;
  const said = talk.problem?.text ?? talk.lastLine;
  return {
    reason: `${provider} has ended${status}${said === null ? " and said nothing: try it by hand." : `: ${said}`}`,
    final: talk.problem?.final ?? false,
  };
}

function withProblem(reason: string, { problem }: ToolTalk): string {
  return problem === null ? reason : `${reason} It said: ${problem.text}`;
}

function noAddress({ provider, timing }: DialOptions, { problem, lastLine }: ToolTalk): string {
  const reason = `${provider} named no address in ${timing.addressMs / 1_000} s.`;
  if (problem !== null) return reason;
  return lastLine === null
    ? `${reason} It said nothing: try it by hand.`
    : `${reason} It said last: ${lastLine}`;
}
