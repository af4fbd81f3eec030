import { type Signal, signal } from "@preact/signals";
import type { PastedImage } from "./images.ts";

/** What is being written to one agent. Text and paths last, also over reloads; pictures as long as the page. */
export interface Draft {
  readonly text: Signal<string>;
  readonly attachments: Signal<readonly string[]>;
  readonly images: Signal<readonly PastedImage[]>;
}

const prefix = `sallyport.draft ${location.pathname.replace(/[^/]*$/, "")} `;
const maxStored = 30;
const maxStoredChars = 100_000;
const saveMs = 400;
const open = new Map<string, Draft>();

/** The draft for an agent; the same one as long as the page lives. */
export function draftOf(agent: string): Draft {
  const known = open.get(agent);
  if (known !== undefined) return known;
  const stored = read(agent);
  const draft: Draft = {
    text: signal(stored.text),
    attachments: signal(stored.attachments),
    images: signal([]),
  };
  open.set(agent, draft);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const saveSoon = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => write(agent, draft), saveMs);
  };
  let isFirst = 2;
  for (const part of [draft.text, draft.attachments])
    part.subscribe(() => {
      if (isFirst > 0) isFirst -= 1;
      else saveSoon();
    });
  return draft;
}

export function clearDraft(draft: Draft): void {
  draft.text.value = "";
  draft.attachments.value = [];
  // The pictures' addresses are given back by who shows them.
  draft.images.value = [];
}

interface Stored {
  readonly text: string;
  readonly attachments: readonly string[];
  readonly atMs?: number;
}

function read(agent: string): Stored {
  try {
    const raw: unknown = JSON.parse(localStorage.getItem(prefix + agent) ?? "null");
    if (isStored(raw)) return raw;
  } catch {
    return { text: "", attachments: [] }; // Refused by the browser, or damaged.
  }
  return { text: "", attachments: [] };
}

function isStored(raw: unknown): raw is Stored {
  if (typeof raw !== "object" || raw === null || !("text" in raw) || !("attachments" in raw)) return false;
  return (
    typeof raw.text === "string" &&
    Array.isArray(raw.attachments) &&
    raw.attachments.every((path) => typeof path === "string")
  );
}

function write(agent: string, draft: Draft): void {
  const text = draft.text.peek().slice(0, maxStoredChars);
  const attachments = draft.attachments.peek();
  try {
    if (text === "" && attachments.length === 0) localStorage.removeItem(prefix + agent);
    else localStorage.setItem(prefix + agent, JSON.stringify({ text, attachments, atMs: Date.now() }));
    dropOldest();
  } catch {
    return; // The browser stores nothing: the draft lives as long as the page.
  }
}

function dropOldest(): void {
  const keys = Object.keys(localStorage).filter((key) => key.startsWith(prefix));
  if (keys.length <= maxStored) return;
  const ages = keys.map((key) => ({ key, atMs: read(key.slice(prefix.length)).atMs ?? 0 }));
  ages.sort((a, b) => a.atMs - b.atMs);
  for (const { key } of ages.slice(0, keys.length - maxStored)) localStorage.removeItem(key);
}
