import { plainTextStream } from "../lib/visible-text.ts";

export interface LogFilter {
  /** What of `text` may be shown. A sequence cut by the end of the piece waits for the next one. */
  push(text: string): string;
  /** What is left, and a reset if a colour was let through. */
  end(): string;
}

/** Output for people, without what could steer a terminal. Colours pass when `colours` is set, and end with the log. */
export function createLogFilter(options: { readonly colours: boolean }): LogFilter {
  const clean = plainTextStream({ lines: true, colours: options.colours });
  let coloured = false;
  const seen = (text: string): string => {
    coloured ||= text.includes("\u001b[");
    return text;
  };
  return {
    push: (text) => seen(clean(text)),
    end() {
      const last = seen(clean("", true));
      return coloured ? `${last}\u001b[0m` : last;
    },
  };
}
