import { useState } from "preact/hooks";

/**
 * For controls that show a value which is not theirs: called when one was touched, it draws the component again, so that
 * what the browser changed by itself is taken back where the value stayed (refused, or asked about first).
 */
export function useRedraw(): () => void {
  const [, count] = useState(0);
  return () => count((times) => times + 1);
}
