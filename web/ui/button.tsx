import type { ComponentChildren } from "preact";
import "./button.css";
import { classes } from "./classes.ts";
import { Icon } from "./icon.tsx";
import type { IconName } from "./icon-paths.ts";

interface ButtonProps {
  readonly children: ComponentChildren;
  readonly onClick?: ((event: MouseEvent) => void) | undefined;
  /** `primary`: the one thing to do here. `danger`: cannot be undone. */
  readonly kind?: "primary" | "plain" | "quiet" | "danger";
  readonly type?: "button" | "submit";
  readonly icon?: IconName;
  readonly disabled?: boolean | undefined;
  readonly isBusy?: boolean;
  readonly isWide?: boolean;
  readonly describedBy?: string | undefined;
  readonly class?: string;
}

/** A button with words. At least 44 px high. While busy it stays where it is and says so. */
export function Button(props: ButtonProps) {
  const { children, onClick, kind = "plain", type = "button", icon, isBusy = false, isWide = false } = props;
  return (
    <button
      type={type}
      class={classes("button", kind, isWide && "wide", props.class)}
      // A disabled button loses the focus; a busy one keeps it.
      aria-disabled={isBusy || undefined}
      disabled={props.disabled ?? false}
      aria-describedby={props.describedBy}
      onClick={isBusy ? undefined : onClick}
    >
      {isBusy ? <span class="busy" aria-hidden="true" /> : icon && <Icon name={icon} />}
      <span>{children}</span>
    </button>
  );
}

interface IconButtonProps {
  readonly icon: IconName;
  /** Its name for a screen reader, and its tip. */
  readonly label: string;
  readonly onClick?: ((event: MouseEvent) => void) | undefined;
  readonly type?: "button" | "submit";
  readonly kind?: "primary" | "quiet";
  readonly disabled?: boolean | undefined;
  readonly isPressed?: boolean;
  /** It opens a menu, which is open or closed. */
  readonly menu?: "open" | "closed";
  readonly class?: string;
}

/** A button with a picture only, 44 px square. */
export function IconButton(props: IconButtonProps) {
  const { icon, label, onClick, type = "button", kind = "quiet", isPressed, menu } = props;
  return (
    <button
      type={type}
      class={classes("icon-button", kind, props.class)}
      aria-label={label}
      title={label}
      aria-pressed={isPressed}
      aria-haspopup={menu && "menu"}
      aria-expanded={menu && menu === "open"}
      disabled={props.disabled ?? false}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}

interface LinkButtonProps {
  readonly href: string;
  readonly children: ComponentChildren;
  readonly kind?: "primary" | "plain" | "quiet";
  readonly icon?: IconName;
  /** Saves under this name instead of opening. */
  readonly download?: string;
}

/** A link that looks like a button: it goes somewhere, and does nothing else. */
export function LinkButton({ href, children, kind = "plain", icon, download }: LinkButtonProps) {
  return (
    <a class={classes("button", kind)} href={href} download={download}>
      {icon && <Icon name={icon} />}
      <span>{children}</span>
    </a>
  );
}
