import { el, show } from "./dom.ts";

export interface Notice {
  readonly title: string;
  readonly text: string;
  /** What to type on the daemon's machine. */
  readonly command?: string;
  readonly actions: readonly { readonly label: string; readonly run: () => void }[];
}

/** One state of the page in plain words, with what to do next. */
export function showNotice(notice: Notice): void {
  show(
    notice.title,
    el("p", { class: "lead" }, notice.text),
    notice.command === undefined
      ? null
      : el("p", { class: "card" }, "On the daemon's machine run ", el("code", {}, notice.command)),
    el(
      "p",
      { class: "actions" },
      ...notice.actions.map(({ label, run }, index) =>
        el("button", { type: "button", class: index === 0 ? "primary" : "plain", onclick: run }, label),
      ),
    ),
  );
}
