import { useComputed } from "@preact/signals";
import { useSession } from "../state/session.ts";
import { Button } from "../ui/button.tsx";
import { isUpdateReady, updatePage } from "./worker-registration.ts";

/** A newer version of the page is there; it is taken when its person says so, because something may be half written. */
export function UpdateLine() {
  const { snapshot } = useSession();
  const mismatch = useComputed(() => snapshot.value?.daemon.version_mismatch === true).value;
  return (
    <div role="status">
      {(isUpdateReady.value || mismatch) && (
        <div class="connection-line calm">
          <p>The daemon was updated. This page is still the old one.</p>
          <Button onClick={updatePage}>Load the new one</Button>
        </div>
      )}
    </div>
  );
}
