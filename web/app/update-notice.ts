import { useComputed } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useSession } from "../state/session.ts";
import { toast } from "../state/toasts.ts";
import { isUpdateReady, updatePage } from "./worker-registration.ts";

/** Says that a newer page is there. It is taken when its person says so, because something may be half written. */
export function useUpdateNotice(): void {
  const { snapshot } = useSession();
  const isOld = useComputed(
    () => isUpdateReady.value || snapshot.value?.daemon.version_mismatch === true,
  ).value;
  useEffect(() => {
    if (isOld)
      toast("The daemon was updated. This page is still the old one.", {
        isLasting: true,
        action: { label: "Load the new one", run: updatePage },
      });
  }, [isOld]);
}
