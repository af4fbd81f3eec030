import type { Device, PairedDevice } from "../src/protocol/objects.ts";
import { type Answer, createApi } from "./api.ts";
import { byId, el, show, toast } from "./dom.ts";
import { baseOf, type Entry, isUnencrypted, readEntry } from "./entry.ts";
import { showHome } from "./home-view.ts";
import { type Live, openLive } from "./live.ts";
import { showNotice } from "./notice-view.ts";
import { describeBrowser, type PairWith, pair, randomHex, ticketForToken } from "./pair.ts";
import { showPairForm, showPairing } from "./pair-view.ts";
import { readPairingCode, showPairingCode } from "./pairing-code.ts";
import { browserStorage, openTokenStore } from "./token-store.ts";

declare const __SALLYPORT_VERSION__: string;

const api = createApi(baseOf(location.href));
const store = openTokenStore(browserStorage(), api.base);
const browser = describeBrowser(navigator.userAgent);
const linkState = byId("link-state");
let live: Live | null = null;
/** Grows with every start, so that an answer that comes late changes nothing. */
let run = 0;
/** One nonce per code: whoever repeats a claim with it gets the answer that was lost. */
const nonces = new Map<string, string>();

/** Takes the secret out of the address before anything else can fail. */
function takeEntry(): Entry {
  const { entry, cleanHref } = readEntry(location.href);
  if (cleanHref !== location.href) history.replaceState(null, "", cleanHref);
  return entry;
}

async function start(entry: Entry): Promise<void> {
  run += 1;
  const thisRun = run;
  live?.stop();
  live = null;
  linkState.textContent = "";
  const token = store.get();
  if (token !== null) {
    const answer = await api.call<{ version: string }>("GET", "api/daemon", { token });
    if (thisRun !== run) return;
    if (answer.kind === "ok") {
      if (entry.kind !== "none") toast("This browser is paired already. The code was not used.");
      return openHome(token);
    }
    // A scope that this device lacks is no reason to forget it.
    if (answer.kind === "refused" && answer.error.code === "scope_missing") return openHome(token);
    if (answer.kind !== "refused" || answer.status !== 401) return showTrouble(answer, entry);
    store.forget();
    if (entry.kind === "none") return showRevoked();
  }
  if (entry.kind === "ticket") return redeem({ ticket: entry.ticket }, browser.name, null);
  if (entry.kind === "token") return tradeToken(entry);
  const hello = await api.call<{ app?: string; pairing?: boolean }>("GET", "api/hello");
  if (thisRun !== run) return;
  if (hello.kind !== "ok") return showTrouble(hello, entry);
  if (hello.body?.app !== "sallyport") return showTrouble({ kind: "offline" }, entry);
  if (entry.kind === "none") return askForCode("", null);
  const read = readPairingCode(entry.rawCode);
  if (!read.ok) return askForCode(entry.rawCode, `The link holds no whole code. ${read.hint}`);
  return redeem({ code: read.code }, browser.name, read.code);
}

async function tradeToken(entry: Extract<Entry, { kind: "token" }>): Promise<void> {
  showPairing(null);
  const answer = await ticketForToken(api, entry.token);
  if (answer.kind === "ok") return redeem({ ticket: answer.body.ticket }, browser.name, null);
  if (answer.kind === "refused" && answer.status === 401)
    return askForCode("", "The token of this link is wrong, or counts on the daemon's own machine only.");
  return showTrouble(answer, entry);
}

async function redeem(proof: PairWith, name: string, code: string | null): Promise<void> {
  run += 1;
  const thisRun = run;
  showPairing(code);
  const nonce = nonces.get(code ?? "") ?? randomHex(16);
  if (code !== null) nonces.set(code, nonce);
  const answer = await pair(
    api,
    proof,
    { name, kind: browser.kind, nonce },
    (ms) => new Promise((done) => setTimeout(done, ms)),
  );
  // The code is burnt now: the token is kept even if another link was opened meanwhile.
  if (answer.kind === "ok") store.set(answer.body.token);
  if (thisRun !== run) return;
  if (answer.kind === "ok") {
    return openHome(answer.body.token, answer.body.device);
  }
  const shown = code === null ? "" : showPairingCode(code);
  if (answer.kind === "offline")
    return showTrouble(answer, code === null ? { kind: "none" } : { kind: "code", rawCode: code });
  if (answer.error.code === "remote_off") return showTrouble(answer, { kind: "none" });
  if (answer.status === 429)
    return askForCode(shown, lockedText(answer.error.retry_after ?? answer.retryAfterSeconds));
  const problem =
    code === null
      ? "This link was used already or is too old. Run `sallyport web --open` again, or type a code."
      : answer.error.message;
  askForCode(shown, problem, name);
}

function lockedText(seconds: number | null): string {
  const minutes = Math.max(1, Math.ceil((seconds ?? 60) / 60));
  return `Too many wrong codes were tried. Wait ${minutes} min; a code that is right still works at once.`;
}

function askForCode(code: string, problem: string | null, name = browser.name): void {
  showPairForm({
    intro: "Pair once; then this browser drives the agents and jobs of the machine that it talks to.",
    problem,
    code,
    name,
    unencrypted: isUnencrypted(location.href),
    submit: (typed, chosenName) => void redeem({ code: typed }, chosenName, typed),
  });
}

function showRevoked(): void {
  linkState.textContent = "";
  showNotice({
    title: "This browser is no longer paired",
    text: "The daemon does not know its token any more: it was revoked or has expired. The token was forgotten here too.",
    command: "sallyport pair",
    actions: [{ label: "Pair again", run: () => askForCode("", null) }],
  });
}

function showTrouble(answer: Answer<unknown>, entry: Entry): void {
  const again = { label: "Try again", run: () => void start(entry) };
  if (answer.kind === "refused" && answer.error.code === "remote_off") {
    showNotice({
      title: "Remote access is off",
      text: "The daemon runs, but takes requests from its own machine only.",
      command: "sallyport remote on",
      actions: [again],
    });
    return;
  }
  if (answer.kind === "refused") {
    showNotice({
      title: "The daemon refused this page",
      text: answer.error.message,
      actions: [again],
    });
    return;
  }
  showNotice({
    title: "The daemon does not answer",
    text: "It may be stopped or restarting, or this device has no connection. The page tries again by itself.",
    command: "sallyport daemon status",
    actions: [again],
  });
  const thisRun = run;
  setTimeout(() => {
    if (thisRun === run && !live) void start(entry);
  }, 5_000);
}

function openHome(token: string, device?: PairedDevice): void {
  run += 1;
  if (device) toast(`Paired as ${device.name}.`);
  show("Connecting…", el("p", { class: "lead" }, "Waiting for the state of the daemon."));
  let home: ReturnType<typeof showHome> | null = null;
  const opened = openLive(api, token, __SALLYPORT_VERSION__, {
    state(state) {
      linkState.textContent = {
        connecting: "Connecting…",
        live: "Connected",
        waiting: "Connection lost, trying again…",
      }[state];
      linkState.dataset.state = state;
    },
    model(model, change) {
      home ??= showHome({
        lasting: store.lasting,
        live: () => opened,
        async answer(request, decision) {
          const reply = await opened.send({
            type: "approve",
            request_id: request.request_id,
            decision,
            digest: request.digest,
          });
          if (!reply) return "No reply; the answer may not have arrived.";
          return reply.type === "error" ? (reply.message ?? "The daemon refused this answer.") : null;
        },
        forget: () => void forgetDevice(token),
      });
      home.update(model, change);
      if (change === null) void nameDevice(token, home.setName);
    },
    ended(end, message) {
      live = null;
      linkState.textContent = "";
      if (end === "revoked") {
        store.forget();
        showRevoked();
      } else if (end === "remote_off")
        showTrouble(
          {
            kind: "refused",
            status: 403,
            error: { type: "error", code: "remote_off", message },
            retryAfterSeconds: null,
          },
          { kind: "none" },
        );
      else
        showNotice({
          title: "The daemon refused this page",
          text: message,
          actions: [{ label: "Try again", run: () => void start({ kind: "none" }) }],
        });
    },
  });
  live = opened;
}

/** Tells the page under which name the daemon knows this browser. */
async function nameDevice(token: string, setName: (name: string) => void): Promise<void> {
  const own = await ownDevice(token);
  if (own.kind === "ok" && own.body) setName(own.body.name);
}

async function ownDevice(token: string): Promise<Answer<Device | undefined>> {
  const list = await api.call<{ devices: Device[] }>("GET", "api/devices", { token });
  return list.kind === "ok" ? { kind: "ok", body: list.body.devices.find((device) => device.current) } : list;
}

async function forgetDevice(token: string): Promise<void> {
  const own = await ownDevice(token);
  const path = own.kind === "ok" && own.body ? `api/devices/${encodeURIComponent(own.body.id)}` : null;
  const gone = path === null ? own : await api.call("DELETE", path, { token });
  if (gone.kind === "offline" || (gone.kind === "refused" && gone.status !== 401)) {
    toast("The daemon could not be told, so this device stays paired. Try again.");
    return;
  }
  live?.stop();
  live = null;
  store.forget();
  askForCode("", null);
  toast("This browser is forgotten, here and on the daemon.");
}

window.addEventListener("hashchange", () => {
  const entry = takeEntry();
  if (entry.kind !== "none") void start(entry);
});
void start(takeEntry());
