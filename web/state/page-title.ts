import { signal } from "@preact/signals";

/** Title of the page that is shown; the shell makes the window's title of it. */
export const pageTitle = signal("");
