import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { pageTitle } from "../state/page-title.ts";
import { path } from "../state/router.ts";
import { IconButton } from "./button.tsx";
import { classes } from "./classes.ts";
import "./page.css";

interface PageProps {
  readonly title: string;
  /** Under the title, one quiet line. */
  readonly lead?: ComponentChildren;
  /** Beside the title: buttons. */
  readonly actions?: ComponentChildren;
  /** Where the arrow before the title leads; without one there is no arrow. */
  readonly back?: { readonly href: string; readonly label: string };
  /** `text`: a column for reading; `full`: the page fills the space and scrolls by itself. */
  readonly layout?: "text" | "full";
  readonly class?: string;
  readonly children: ComponentChildren;
}

let lastFocused: string | null = null;

/** A page: its title, which names the window too and takes the focus when one came here from another page. */
export function Page({ title, lead, actions, back, layout = "text", children, ...rest }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const at = path.value;
  pageTitle.value = title;
  useEffect(() => {
    // Not at the very start: there the focus belongs to the document.
    if (lastFocused !== null && lastFocused !== at) heading.current?.focus({ preventScroll: true });
    lastFocused = at;
  }, [at]);
  return (
    <div class={classes("page", layout, rest.class)}>
      <header class="page-head">
        {back && (
          <IconButton
            icon="back"
            label={back.label}
            onClick={() => (location.hash = back.href.replace(/^#/, ""))}
          />
        )}
        <div class="page-title">
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {lead && <div class="page-lead">{lead}</div>}
        </div>
        {actions && <div class="page-actions">{actions}</div>}
      </header>
      <div class="page-body">{children}</div>
    </div>
  );
}
