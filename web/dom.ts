type Child = Node | string | null;
interface Attributes {
  readonly [name: string]: string | boolean | ((event: Event) => void);
}

/** Makes an element. Strings become text nodes, never markup; a function is a listener for the event `on…`. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.replace(/^on/, ""), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (!element) throw new TypeError(`the page has no #${id}`);
  return element;
}

/** Replaces the view and moves the focus to it, so that a screen reader says what is new. */
export function show(title: string, ...children: readonly Child[]): void {
  const view = byId("view");
  document.title = `${title} – Sallyport`;
  view.replaceChildren(el("h1", {}, title), ...children.filter((child) => child !== null));
  view.focus({ preventScroll: true });
}

let toastTimer: ReturnType<typeof setTimeout> | undefined;

/** Says something for a few seconds. */
export function toast(text: string): void {
  const line = byId("toast");
  line.textContent = text;
  line.hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => {
    line.hidden = true;
  }, 6_000);
}
