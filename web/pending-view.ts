import type { Decision, PermissionRequest } from "../src/protocol/objects.ts";
import { el } from "./dom.ts";
import type { Model } from "./model.ts";
import { visible } from "./visible.ts";

/** A tap so soon after the list moved was meant for what stood there before. */
const settleMs = 500;
/** An answered request keeps its place this long, so that nothing slides under a finger. */
const keepMs = 4_000;

export interface PendingView {
  readonly element: HTMLElement;
  update(model: Model): void;
}

export type AnswerRequest = (request: PermissionRequest, decision: Decision) => Promise<string | null>;

interface Card {
  readonly element: HTMLElement;
  readonly outcome: HTMLElement;
  readonly buttons: readonly HTMLButtonElement[];
  gone: boolean;
}

/**
 * The requests that wait for an answer. A card and its buttons belong to one `request_id` and `digest` for ever: cards
 * are added and removed but never reused, and taps do not count while the list has just moved.
 *
 * @param answer sends the answer; resolves with what went wrong, or null
 */
export function createPendingView(answer: AnswerRequest): PendingView {
  const list = el("div", { class: "requests" });
  const empty = el("p", { class: "quiet" }, "Nothing waits for an answer.");
  const element = el(
    "section",
    { "aria-labelledby": "pending-title" },
    el("h2", { id: "pending-title" }, "Waiting for you"),
    empty,
    list,
  );
  const cards = new Map<string, Card>();
  let movedAt = Number.NEGATIVE_INFINITY;

  const settled = (): boolean => performance.now() - movedAt >= settleMs;

  const remove = (key: string, card: Card): void => {
    movedAt = performance.now();
    card.element.remove();
    cards.delete(key);
    empty.hidden = cards.size > 0;
  };

  const add = (key: string, request: PermissionRequest, model: Model): void => {
    movedAt = performance.now();
    const card = createCard(request, model, async (decision) => {
      if (!settled() || card.gone) return;
      for (const button of card.buttons) button.disabled = true;
      card.outcome.textContent = "Sending…";
      const problem = await answer(request, decision);
      if (card.gone) return;
      card.outcome.textContent = problem ?? "";
      for (const button of card.buttons) button.disabled = false;
    });
    cards.set(key, card);
    list.append(card.element);
  };

  return {
    element,
    update(model) {
      const open = new Set(model.pending.map(keyOf));
      for (const request of model.pending)
        if (!cards.has(keyOf(request))) add(keyOf(request), request, model);
      for (const [key, card] of cards) {
        if (open.has(key) || card.gone) continue;
        card.gone = true;
        card.element.classList.add("gone");
        card.outcome.textContent =
          model.resolved.get(card.element.dataset.request ?? "") ?? "No longer open.";
        for (const button of card.buttons) button.disabled = true;
        setTimeout(() => remove(key, card), keepMs);
      }
      empty.hidden = cards.size > 0;
    },
  };
}

/** A changed call has another digest and with it another card. */
function keyOf(request: PermissionRequest): string {
  return `${request.request_id} ${request.digest}`;
}

function createCard(request: PermissionRequest, model: Model, decide: (decision: Decision) => void): Card {
  const mayApprove = model.scopes.includes("approve");
  const button = (label: string, kind: string, decision: Decision): HTMLButtonElement =>
    el("button", { type: "button", class: kind, onclick: () => decide(decision) }, label);
  const buttons = mayApprove
    ? [
        button("Deny", "plain", "deny"),
        ...(request.allow_session !== null && model.scopes.includes("drive")
          ? [button(sessionLabel(request), "plain wide", "allow_session")]
          : []),
        button("Allow", "primary", "allow"),
      ]
    : [];
  const outcome = el("p", { class: "outcome", role: "status" });
  const element = el(
    "article",
    { class: "card request", "data-request": request.request_id },
    el("p", { class: "about" }, `${visible(request.tool)} in ${visible(request.cwd)}`),
    el("pre", { tabindex: "0", "aria-label": "What it wants to do" }, subjectOf(request)),
    el("p", { class: "actions" }, ...buttons),
    mayApprove ? null : el("p", { class: "quiet" }, "This device may look but not answer."),
    outcome,
  );
  return { element, outcome, buttons, gone: false };
}

/** Says how far an answer for the session reaches: to this very line, or to what a rule with wildcards names. */
function sessionLabel(request: PermissionRequest): string {
  const subject = subjectOf(request);
  const rule = visible(request.allow_session ?? "");
  return rule === `${request.tool}(${subject.trim()})`
    ? "Allow exactly this for the rest of the session"
    : `Allow ${rule} for the rest of the session`;
}

/** The raw call, whole: the command or path where there is one, otherwise all of the input. */
function subjectOf(request: PermissionRequest): string {
  const input = request.input;
  if (typeof input === "object" && input !== null && Object.keys(input).length === 1) {
    const [only] = Object.values(input);
    if (typeof only === "string") return visible(only);
  }
  return visible(JSON.stringify(input, null, 2) ?? request.summary);
}
