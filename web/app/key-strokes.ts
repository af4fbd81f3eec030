import { actions } from "../state/actions.ts";

/** How long the second key of a sequence may take. */
const sequenceMs = 1_200;

/** A key press as an action writes it: `mod+k`, `?`, `g`. Null for a modifier alone. */
function strokeOf(
  event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">,
): string | null {
  if (["Shift", "Control", "Meta", "Alt", "Dead", "Unidentified"].includes(event.key)) return null;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const mod = event.ctrlKey || event.metaKey ? "mod+" : "";
  const alt = event.altKey ? "alt+" : "";
  // Shift is part of the character itself, but not of a named key.
  const shift = event.shiftKey && (event.key.length > 1 || mod !== "") ? "shift+" : "";
  return mod + alt + shift + key;
}

/** True where plain keys are text. */
function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

/** Does actions by their keys, from anywhere on the page. Returns how to stop. */
export function listenForKeys(): () => void {
  let first: { readonly stroke: string; readonly atMs: number } | null = null;
  const onKey = (event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.isComposing) return;
    const stroke = strokeOf(event);
    if (stroke === null) return;
    if (!stroke.startsWith("mod+") && isTyping(event.target)) return;
    // A dialog has its own keys; what lies behind it must not move.
    if (document.querySelector("dialog[open]") !== null && !stroke.startsWith("mod+")) return;
    const sequence =
      first !== null && event.timeStamp - first.atMs < sequenceMs ? `${first.stroke} ${stroke}` : stroke;
    const known = actions.peek();
    const action = known.find(({ keys }) => keys === sequence) ?? known.find(({ keys }) => keys === stroke);
    first = null;
    if (action !== undefined) {
      event.preventDefault();
      action.run();
    } else if (known.some(({ keys }) => keys?.startsWith(`${stroke} `)))
      first = { stroke, atMs: event.timeStamp };
  };
  addEventListener("keydown", onKey);
  return () => removeEventListener("keydown", onKey);
}
