import "./badge.css";

/** How many wait. `label` says of what, for a screen reader: `3 wait for an answer`. Nothing at zero. */
export function Badge({ count, label }: { readonly count: number; readonly label: string }) {
  if (count === 0) return null;
  return (
    <span class="badge">
      <span aria-hidden="true">{count > 99 ? "99+" : count}</span>
      <span class="unseen">
        , {count} {label}
      </span>
    </span>
  );
}
