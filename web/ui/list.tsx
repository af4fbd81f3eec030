import type { ComponentChildren } from "preact";
import { classes } from "./classes.ts";
import "./list.css";

interface ListProps {
  readonly label?: string;
  readonly children: ComponentChildren;
}

/** A list of rows. Fill it with `Row`. */
export function List({ label, children }: ListProps) {
  return (
    <ul class="list" aria-label={label}>
      {children}
    </ul>
  );
}

interface RowProps {
  readonly title: ComponentChildren;
  /** A second, quieter line. */
  readonly detail?: ComponentChildren;
  /** Left of the words: a mark or an icon. */
  readonly lead?: ComponentChildren;
  /** Right of the words, not part of the link: buttons, a menu. */
  readonly actions?: ComponentChildren;
  /** Where the row leads. The whole of it can be touched. */
  readonly href?: string;
  readonly onClick?: () => void;
  readonly isCurrent?: boolean;
}

/** One row of a `List`: leads somewhere, does something, or just says something. */
export function Row({ title, detail, lead, actions, href, onClick, isCurrent = false }: RowProps) {
  const words = (
    <>
      {lead && <span class="row-lead">{lead}</span>}
      <span class="row-words">
        <span class="row-title">{title}</span>
        {detail && <span class="row-detail">{detail}</span>}
      </span>
    </>
  );
  return (
    <li class={classes("row", isCurrent && "current")}>
      {href !== undefined ? (
        <a class="row-main" href={href} aria-current={isCurrent ? "page" : undefined}>
          {words}
        </a>
      ) : onClick !== undefined ? (
        <button type="button" class="row-main" onClick={onClick}>
          {words}
        </button>
      ) : (
        <div class="row-main">{words}</div>
      )}
      {actions && <span class="row-actions">{actions}</span>}
    </li>
  );
}
