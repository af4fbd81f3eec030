import { useSignal } from "@preact/signals";
import { pages } from "../routes/pages.ts";
import { type Action, actions, useActions } from "../state/actions.ts";
import { navigate } from "../state/router.ts";
import { useSession } from "../state/session.ts";
import { Dialog } from "../ui/dialog.tsx";
import { scrollable } from "../ui/scrollable.ts";
import { KeyNames } from "./key-names.tsx";
import { addressOf } from "./navigation.tsx";
import { Palette } from "./palette.tsx";

/** The command palette and the list of shortcuts, with the actions that open them. */
export function ShellDialogs() {
  const session = useSession();
  const open = useSignal<"palette" | "shortcuts" | null>(null);
  const show = (which: "palette" | "shortcuts") => () => {
    open.value = open.value === which ? null : which;
  };
  const scopes = session.scopes.value;
  useActions(
    "shell",
    [
      {
        id: "palette",
        label: "Command palette",
        section: "General",
        keys: "mod+k",
        inPalette: false,
        run: show("palette"),
      },
      { id: "shortcuts", label: "Keyboard shortcuts", section: "General", keys: "?", run: show("shortcuts") },
      ...pages
        .filter((page) => page.nav !== "none" && scopes.has(page.needs))
        .map(
          (page): Action => ({
            id: `go ${page.path}`,
            label: `Go to ${page.title}`,
            section: "Pages",
            ...(page.keys === null ? {} : { keys: page.keys }),
            run: () => navigate(addressOf(page)),
          }),
        ),
    ],
    [scopes],
  );
  const close = (): void => {
    open.value = null;
  };
  if (open.value === "palette") return <Palette onClose={close} />;
  if (open.value === "shortcuts") return <Shortcuts onClose={close} />;
  return null;
}

function Shortcuts({ onClose }: { readonly onClose: () => void }) {
  const withKeys = actions.value.filter(({ keys }) => keys !== undefined);
  const sections = [...new Set(withKeys.map(({ section }) => section))];
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      {/* Nothing in it takes the focus, and it is longer than a small window. */}
      <section {...scrollable} aria-label="All shortcuts">
        {sections.map((section) => (
          <div key={section}>
            <h3>{section}</h3>
            <dl class="shortcut-list">
              {withKeys
                .filter((action) => action.section === section)
                .map((action) => (
                  <div key={action.id}>
                    <dt>{action.label}</dt>
                    <dd>
                      <KeyNames keys={action.keys ?? ""} />
                    </dd>
                  </div>
                ))}
            </dl>
          </div>
        ))}
      </section>
    </Dialog>
  );
}
