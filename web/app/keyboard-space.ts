/** Less than any keyboard on a screen, and more than the bars of a browser that come and go. */
const minKeyboardPx = 120;

/**
 * Some phones lay their keyboard over the page instead of making it smaller (iOS). The page then takes the space that is
 * left, so that what is written stays in sight. Not while it is magnified by two fingers.
 */
export function makeRoomForKeyboard(): void {
  const { visualViewport: seen } = window;
  if (seen === null) return;
  const fit = (): void => {
    const { style } = document.documentElement;
    const isCovered = seen.scale === 1 && window.innerHeight - seen.height > minKeyboardPx;
    if (!isCovered) {
      style.removeProperty("--page-height");
      return;
    }
    style.setProperty("--page-height", `${seen.height}px`);
    // The phone has moved the page up to show the field, which is in sight now anyway.
    window.scrollTo(0, 0);
  };
  seen.addEventListener("resize", fit);
}
