import { el, show } from "./dom.ts";
import { readPairingCode, showPairingCode } from "./pairing-code.ts";

export interface PairForm {
  /** Shown above the form: why a code is asked for. */
  readonly intro: string;
  /** Shown as an error under the code. */
  readonly problem: string | null;
  readonly code: string;
  readonly name: string;
  readonly unencrypted: boolean;
  readonly submit: (code: string, name: string) => void;
}

/** Asks for a pairing code; forgiving about how it is typed. */
export function showPairForm(form: PairForm): void {
  const problem = el("p", { id: "code-problem", class: "problem", role: "alert" }, form.problem ?? "");
  const code = el("input", {
    id: "code",
    name: "code",
    type: "text",
    class: "code",
    autocomplete: "one-time-code",
    autocapitalize: "characters",
    autocorrect: "off",
    spellcheck: "false",
    enterkeyhint: "go",
    maxlength: "400",
    placeholder: "ABCDE-FGHJK",
    "aria-describedby": "code-problem code-help",
    value: form.code,
  });
  const name = el("input", {
    id: "name",
    name: "name",
    type: "text",
    autocomplete: "off",
    maxlength: "64",
    value: form.name,
  });
  const submit = (event: Event): void => {
    event.preventDefault();
    const read = readPairingCode(code.value);
    code.setAttribute("aria-invalid", String(!read.ok));
    problem.textContent = read.ok ? "" : read.hint;
    if (read.ok) form.submit(read.code, name.value.trim() || form.name);
    else code.focus();
  };
  show(
    "Pair this browser",
    el("p", { class: "lead" }, form.intro),
    form.unencrypted
      ? el(
          "p",
          { class: "note" },
          "This address is not encrypted: whoever can read this network can become this device.",
        )
      : null,
    el(
      "form",
      { class: "card", onsubmit: submit, novalidate: true },
      el("label", { for: "code" }, "Pairing code"),
      code,
      problem,
      el("label", { for: "name" }, "Name of this device"),
      name,
      el("button", { type: "submit", class: "primary" }, "Pair"),
    ),
    el(
      "p",
      { id: "code-help", class: "help" },
      "Make a code on the daemon's machine: ",
      el("code", {}, "sallyport pair"),
      ". It is good for ten minutes and one device. On the same machine ",
      el("code", {}, "sallyport web --open"),
      " opens this page without a code.",
    ),
  );
  if (form.problem !== null) code.setAttribute("aria-invalid", "true");
  code.focus();
}

export function showPairing(code: string | null): void {
  show(
    "Pairing…",
    el(
      "p",
      { class: "lead", role: "status" },
      code === null
        ? "Asking the daemon for a token of this browser's own."
        : `Redeeming ${showPairingCode(code)}.`,
    ),
  );
}
