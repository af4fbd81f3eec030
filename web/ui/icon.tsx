import { type IconName, iconPaths } from "./icon-paths.ts";

/** A picture beside a word. It says nothing to a screen reader: the word does. Sized by the text around it. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      {iconPaths[name].map((d) => (
        <path key={d} d={d} />
      ))}
    </svg>
  );
}
