import { useComputed } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { announce } from "../state/announcer.ts";
import { useSession } from "../state/session.ts";
import { Button } from "../ui/button.tsx";
import { isUpdateReady, updatePage } from "./worker-registration.ts";

/** A newer page is there. It is taken when its person says so, because something may be half written. */
export function UpdateButton() {
  const { snapshot } = useSession();
  const isOld = useComputed(
    () => isUpdateReady.value || snapshot.value?.daemon.version_mismatch === true,
  ).value;
  useEffect(() => {
    if (isOld) announce("The daemon was updated. This page is still the old one.");
  }, [isOld]);
  if (!isOld) return null;
  return (
    <span class="update-button" title="The daemon was updated. This page is still the old one.">
      <Button icon="refresh" onClick={updatePage}>
        Update
      </Button>
    </span>
  );
}
