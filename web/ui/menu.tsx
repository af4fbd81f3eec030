import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { IconButton } from "./button.tsx";
import { Icon } from "./icon.tsx";
import type { IconName } from "./icon-paths.ts";
import "./menu.css";

export interface MenuItem {
  readonly label: string;
  readonly run: () => void;
  readonly icon?: IconName;
  readonly isDanger?: boolean;
  readonly isDisabled?: boolean;
  /** For a choice among several: the one that counts. */
  readonly isChosen?: boolean;
}

interface MenuProps {
  /** Name of the button that opens it. */
  readonly label: string;
  readonly icon?: IconName;
  readonly items: readonly MenuItem[];
}

/** A button that opens a list of things to do (WAI-ARIA menu button): arrows, Home, End, Escape, and the first letter. */
export function Menu({ label, icon = "more", items }: MenuProps) {
  const isOpen = useSignal(false);
  const box = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();

  const close = (returnFocus: boolean): void => {
    isOpen.value = false;
    if (returnFocus) box.current?.querySelector("button")?.focus();
  };
  const entries = (): HTMLButtonElement[] => [
    ...(list.current?.querySelectorAll<HTMLButtonElement>("button:not(:disabled)") ?? []),
  ];

  useEffect(() => {
    if (!isOpen.value) return undefined;
    entries()[0]?.focus();
    const onPointer = (event: PointerEvent): void => {
      if (event.target instanceof Node && !box.current?.contains(event.target)) isOpen.value = false;
    };
    addEventListener("pointerdown", onPointer);
    return () => removeEventListener("pointerdown", onPointer);
  }, [isOpen.value]);

  const onKeyDown = (event: KeyboardEvent): void => {
    const all = entries();
    const at = all.indexOf(document.activeElement as HTMLButtonElement);
    const last = all.length - 1;
    const next =
      event.key === "ArrowDown"
        ? (at + 1) % all.length
        : event.key === "ArrowUp"
          ? (at + last) % all.length
          : event.key === "Home"
            ? 0
            : event.key === "End"
              ? last
              : event.key.length === 1
                ? all.findIndex(({ textContent }) =>
                    textContent?.toLowerCase().startsWith(event.key.toLowerCase()),
                  )
                : -1;
    if (event.key === "Escape") {
      event.stopPropagation();
      event.preventDefault();
      close(true);
    } else if (event.key === "Tab") isOpen.value = false;
    else if (next >= 0) {
      event.preventDefault();
      event.stopPropagation();
      all[next]?.focus();
    }
  };

  return (
    <div class="menu" ref={box}>
      <IconButton
        icon={icon}
        label={label}
        menu={isOpen.value ? "open" : "closed"}
        onClick={() => {
          isOpen.value = !isOpen.value;
        }}
      />
      {isOpen.value && (
        <div
          ref={list}
          id={id}
          role="menu"
          tabIndex={-1}
          aria-label={label}
          class="menu-list"
          onKeyDown={onKeyDown}
        >
          {items.map((item) => (
            <button
              key={item.label}
              type="button"
              {...roleOf(item)}
              class={item.isDanger ? "danger" : undefined}
              disabled={item.isDisabled ?? false}
              onClick={() => {
                close(true);
                item.run();
              }}
            >
              {item.icon && <Icon name={item.icon} />}
              <span>{item.label}</span>
              {item.isChosen && <Icon name="check" />}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

function roleOf({ isChosen }: MenuItem) {
  return isChosen === undefined
    ? ({ role: "menuitem" } as const)
    : ({ role: "menuitemradio", "aria-checked": isChosen } as const);
}
