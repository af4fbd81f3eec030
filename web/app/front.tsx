import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Toaster } from "../ui/toaster.tsx";
import "./front.css";

/** The page before it is paired: one thing at a time, in the middle. */
export function Front({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = title === "Sallyport" ? title : `${title} – Sallyport`;
    if (document.activeElement === document.body || document.activeElement === null) heading.current?.focus();
  }, [title]);
  return (
    <main class="front">
      <Toaster />
      <div class="front-inner">
        <img src="icon.svg" alt="" width="56" height="56" />
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {children}
      </div>
    </main>
  );
}
