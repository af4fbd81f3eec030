import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Job } from "../../src/protocol/objects.ts";
import { errorText } from "../state/error-text.ts";
import { useSession } from "../state/session.ts";
import { toast } from "../state/toasts.ts";
import { Button } from "../ui/button.tsx";
import { logFileName } from "./job-words.ts";
import { readWholeLog } from "./read-log.ts";

/** Long enough for a browser to take over what it was given. */
const keepAddressMs = 60_000;

/** Saves the whole log as a file; a long one says how far it is, and can be stopped. */
export function DownloadLog({ job }: { readonly job: Job }) {
  const { rest } = useSession();
  const share = useSignal<number | null>(null);
  const abort = useRef<AbortController | null>(null);
  useEffect(() => () => abort.current?.abort(), []);

  async function download(): Promise<void> {
    const controller = new AbortController();
    abort.current = controller;
    share.value = 0;
    try {
      const log = await readWholeLog(
        rest,
        job.id,
        (done) => {
          share.value = done;
        },
        controller.signal,
      );
      saveAs(log, logFileName(job));
    } catch (error) {
      if (!controller.signal.aborted) toast(errorText(error), { kind: "problem" });
    }
    share.value = null;
  }

  return share.value === null ? (
    <Button icon="download" class="download" onClick={() => void download()}>
      Download
    </Button>
  ) : (
    <Button icon="close" onClick={() => abort.current?.abort()}>
      Stop at {Math.round(share.value * 100)} %
    </Button>
  );
}

function saveAs(file: Blob, name: string): void {
  const address = URL.createObjectURL(file);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), keepAddressMs);
}
