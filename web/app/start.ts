import { AnswerError } from "../../src/client/answer-error.ts";
import { hello } from "../../src/client/pair.ts";
import { sendWithFetch } from "../../src/client/web-transport.ts";
import type { StopReason } from "../../src/client/what-next.ts";
import { describeBrowser } from "../pairing/describe-browser.ts";
import { type Entry, readEntry } from "../pairing/entry.ts";
import { readPairingCode, showPairingCode } from "../pairing/pairing-code.ts";
import { type PairingProof, redeem, ticketForToken } from "../pairing/redeem.ts";
import { forgetPush } from "../push/page-push.ts";
import { baseOf } from "../state/base.ts";
import { type Credential, openCredentialStore } from "../state/credential.ts";
import { waitText } from "../state/error-text.ts";
import { openKeyValue } from "../state/key-value.ts";
import { clearOutbox } from "../state/outbox.ts";
import { navigate } from "../state/router.ts";
import { openSession, type Session } from "../state/session.ts";
import { toast } from "../state/toasts.ts";
import { phase, type Trouble } from "./phase.ts";

declare const __SALLYPORT_VERSION__: string;

const retryMs = 5_000;
const none: Entry = { kind: "none" };

const base = baseOf(location.href);
export const keyValue = openKeyValue(base);
const credentials = openCredentialStore(keyValue, legacyStorage(), base);
const browser = describeBrowser(navigator.userAgent);
/** Grows with every new beginning, so that an answer that comes late changes nothing. */
let run = 0;
let session: Session | null = null;

/** Other windows of this page: one that pairs, pairs them all. */
const others = "BroadcastChannel" in window ? new BroadcastChannel(`sallyport ${base}`) : null;

/** Takes the secret out of the address, before anything else can fail, and begins. */
export function startPage(): void {
  const take = (): Entry => {
    const { entry, cleanHref } = readEntry(location.href);
    if (cleanHref !== location.href) history.replaceState(null, "", cleanHref);
    return entry;
  };
  addEventListener("hashchange", () => {
    const entry = take();
    if (entry.kind !== "none") void begin(entry);
  });
  others?.addEventListener("message", () => {
    if (phase.value.kind === "pairing" || phase.value.kind === "trouble") void begin(none);
  });
  void begin(take());
}

/** Decides what the page shows: with a token it is paired; without one it pairs, or asks how. */
export async function begin(entry: Entry): Promise<void> {
  const thisRun = nextRun();
  const credential = await credentials.get();
  if (thisRun !== run) return;
  if (credential !== null) return open(credential, entry);
  if (entry.kind === "ticket") return trade({ ticket: entry.ticket }, browser.name);
  if (entry.kind === "token") return tradeToken(entry.token);
  if (entry.kind === "code") {
    // The page has come from there a moment ago: whoever answers is asked with the code itself.
    const read = readPairingCode(entry.rawCode);
    if (read.ok) return trade({ code: read.code }, browser.name);
    askForCode(entry.rawCode, `The link holds no whole code. ${read.hint}`);
    return;
  }
  phase.value = { kind: "starting" };
  try {
    await hello(base.replace(/\/$/, ""), sendWithFetch);
  } catch (error) {
    if (thisRun === run) showTrouble(troubleOf(error), entry);
    return;
  }
  if (thisRun === run) askForCode("", null);
}

/** Trades a code that was typed or scanned. */
export function pairWithCode(code: string, name: string): void {
  void trade({ code }, name.trim() || browser.name);
}

/** Shows the form; `code` as it was typed. */
export function askForCode(code: string, problem: string | null, name = browser.name): void {
  nextRun();
  phase.value = { kind: "pairing", code, name, problem };
}

/** Ends the session and forgets the token here. */
async function forgetToken(): Promise<void> {
  nextRun();
  await credentials.forget();
  await forgetPush(keyValue);
  await clearOutbox(keyValue);
}

async function tradeToken(token: string): Promise<void> {
  const thisRun = nextRun();
  phase.value = { kind: "redeeming", code: null };
  try {
    const ticket = await ticketForToken(base, token);
    if (thisRun === run) await trade({ ticket }, browser.name);
  } catch (error) {
    if (thisRun !== run) return;
    if (error instanceof AnswerError && error.status === 401)
      askForCode("", "The token of this link is wrong, or counts on the daemon's own machine only.");
    else showTrouble(troubleOf(error), none);
  }
}

async function trade(proof: PairingProof, name: string): Promise<void> {
  const thisRun = nextRun();
  const code = "code" in proof ? showPairingCode(proof.code) : null;
  phase.value = { kind: "redeeming", code };
  try {
    const { token, device } = await redeem(base, proof, { name, kind: browser.kind });
    // The code is burnt now: the token is kept even if another link was opened meanwhile.
    const credential: Credential = { token, device: device.id };
    await credentials.set(credential);
    others?.postMessage("paired");
    // Otherwise some browsers throw away what a page stored that was not visited for a week.
    void navigator.storage?.persist?.().catch(() => false);
    if (thisRun !== run) return;
    toast(`Paired as ${device.name}.`, { action: { label: "Rename", run: () => navigate("/remote") } });
    open(credential, none);
  } catch (error) {
    if (thisRun !== run) return;
    afterRefusedTrade(error, code, name);
  }
}

function afterRefusedTrade(error: unknown, code: string | null, name: string): void {
  const trouble = troubleOf(error);
  if (trouble.kind !== "refused" || !(error instanceof AnswerError)) {
    showTrouble(trouble, code === null ? none : { kind: "code", rawCode: code });
    return;
  }
  if (error.status === 429) {
    askForCode(code ?? "", lockedText(error.body.retry_after ?? 60), name);
    return;
  }
  const used =
    "This link was used already or is too old. Make a new one on the daemon's machine, or type a code.";
  askForCode(code ?? "", code === null ? used : error.message, name);
}

function lockedText(seconds: number): string {
  return `Too many wrong codes were tried. Wait ${waitText(seconds)}; a code that is right still works at once.`;
}

/** @param entry what the address brought along although there is a token; used if that counts no more */
function open(credential: Credential, entry: Entry): void {
  nextRun();
  const opened = openSession({ base, token: credential.token, version: __SALLYPORT_VERSION__, keyValue });
  session = opened;
  let mayTell = entry.kind !== "none";
  opened.client.onStatus((status) => {
    if (session !== opened) return;
    if (status.phase === "live" && mayTell) {
      mayTell = false;
      toast("This browser is paired already. The code was not used.");
    }
    if (status.phase === "stopped") void afterStop(status.reason, status.message, mayTell ? entry : none);
  });
  phase.value = { kind: "paired", session: opened };
}

async function afterStop(reason: StopReason, message: string, entry: Entry): Promise<void> {
  if (reason === "closed") return;
  nextRun();
  if (reason === "revoked") {
    await forgetToken();
    if (entry.kind !== "none") return begin(entry);
  }
  const trouble: Trouble =
    reason === "revoked" || reason === "remote_off" ? { kind: reason } : { kind: "refused", message };
  showTrouble(trouble, none);
}

function showTrouble(trouble: Trouble, entry: Entry): void {
  const thisRun = nextRun();
  phase.value = { kind: "trouble", trouble, entry };
  if (trouble.kind === "offline")
    setTimeout(() => {
      if (thisRun === run) void begin(entry);
    }, retryMs);
}

function troubleOf(error: unknown): Trouble {
  if (!(error instanceof AnswerError)) return { kind: "offline" };
  return error.body.code === "remote_off"
    ? { kind: "remote_off" }
    : { kind: "refused", message: error.message };
}

function nextRun(): number {
  run += 1;
  const last = session;
  session = null;
  last?.close();
  return run;
}

function legacyStorage(): Storage | null {
  try {
    return window.localStorage;
  } catch {
    return null; // Blocked by a setting of the browser.
  }
}
