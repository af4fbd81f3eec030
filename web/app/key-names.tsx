const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);
const names: Readonly<Record<string, string>> = {
  mod: isMac ? "⌘" : "Ctrl",
  shift: isMac ? "⇧" : "Shift",
  alt: isMac ? "⌥" : "Alt",
  Escape: "Esc",
  Enter: "Enter",
  ArrowUp: "↑",
  ArrowDown: "↓",
};

/** The keys of an action as they stand on the keyboard: `mod+k` as Ctrl K, `g j` as G then J. */
export function KeyNames({ keys }: { readonly keys: string }) {
  return (
    <span class="key-names">
      {keys.split(" ").map((stroke, index) => (
        <span key={stroke}>
          {index > 0 && " then "}
          {stroke.split("+").map((key) => (
            <kbd key={key}>{names[key] ?? (key.length === 1 ? key.toUpperCase() : key)}</kbd>
          ))}
        </span>
      ))}
    </span>
  );
}
