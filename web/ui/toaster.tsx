import { dismissToast, toasts } from "../state/toasts.ts";
import { Button, IconButton } from "./button.tsx";
import { classes } from "./classes.ts";
import "./toaster.css";

/** Shows what is said for a few seconds, and says it to a screen reader. */
export function Toaster() {
  return (
    <div class="toaster" role="status" aria-live="polite">
      {toasts.value.map((shown) => (
        <div key={shown.id} class={classes("toast", shown.kind)}>
          <p>{shown.text}</p>
          {shown.action && (
            <Button
              kind="quiet"
              onClick={() => {
                dismissToast(shown.id);
                shown.action?.run();
              }}
            >
              {shown.action.label}
            </Button>
          )}
          <IconButton icon="close" label="Dismiss" onClick={() => dismissToast(shown.id)} />
        </div>
      ))}
    </div>
  );
}
