import type { ComponentChildren } from "preact";
import { Button } from "./button.tsx";
import { Icon } from "./icon.tsx";
import type { IconName } from "./icon-paths.ts";
import "./states.css";

/** Something is on its way. Appears late, so that what is quick does not flicker. */
export function Spinner({ label = "Loading…" }: { readonly label?: string }) {
  return (
    <p class="spinner" role="status">
      <span class="busy" aria-hidden="true" />
      {label}
    </p>
  );
}

interface EmptyStateProps {
  readonly icon?: IconName;
  readonly title: string;
  /** What to do so that something comes here. */
  readonly children?: ComponentChildren;
}

/** Nothing is here yet, and that is no fault. */
export function EmptyState({ icon, title, children }: EmptyStateProps) {
  return (
    <div class="empty-state">
      {icon && <Icon name={icon} />}
      <p class="empty-title">{title}</p>
      {children && <div class="empty-more">{children}</div>}
    </div>
  );
}

interface ErrorStateProps {
  readonly problem: string;
  readonly onRetry?: () => void;
}

/** Something could not be loaded: why, and another try. */
export function ErrorState({ problem, onRetry }: ErrorStateProps) {
  return (
    <div class="error-state" role="alert">
      <Icon name="warning" />
      <p>{problem}</p>
      {onRetry && (
        <Button icon="refresh" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}
