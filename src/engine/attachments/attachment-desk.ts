import { SallyportError } from "../../errors.ts";
import { createBoundedQueue, QueueFullError } from "../../lib/bounded-queue.ts";
import { engineLimits } from "../engine-limits.ts";
import { type AttachOptions, attach, bytesOf } from "./attach.ts";
import type { Attached } from "./prompt-part.ts";

export interface HeldAttachments {
  readonly attached: readonly Attached[];
  /** Gives their memory back; the second time it does nothing. */
  release(): void;
}

/** Reads attachments, a few prompts at a time, and keeps account of the memory that they take until they are released. */
export interface AttachmentDesk {
  /** Throws as `attach` does, and `overloaded`. */
  take(command: Parameters<typeof attach>[0], options: AttachOptions): Promise<HeldAttachments>;
}

const waitingPerLane = 64;
const nothing: HeldAttachments = { attached: [], release: () => undefined };

/** @param bounds `heldBytes` of all prompts together, `lanes` prompts read at once; left out: those of the engine */
export function createAttachmentDesk(
  bounds: { readonly heldBytes: number; readonly lanes: number } = {
    heldBytes: engineLimits.heldAttachmentBytes,
    lanes: engineLimits.attachingPrompts,
  },
): AttachmentDesk {
  const lanes = Array.from({ length: bounds.lanes }, () =>
    createBoundedQueue({ maxWaiting: waitingPerLane }),
  );
  let turn = 0;
  let heldBytes = 0;

  function hold(attached: readonly Attached[]): HeldAttachments {
    const bytes = bytesOf(attached);
    if (heldBytes + bytes > bounds.heldBytes) throw tooMuch();
    heldBytes += bytes;
    let released = false;
    return {
      attached,
      release() {
        if (!released) heldBytes -= bytes;
        released = true;
      },
    };
  }

  return {
    async take(command, options) {
      if ((command.images ?? []).length + (command.attachments ?? []).length === 0) return nothing;
      if (heldBytes >= bounds.heldBytes) throw tooMuch();
      const lane = lanes[turn];
      turn = (turn + 1) % lanes.length;
      if (!lane) throw new TypeError("there is no lane to read attachments in");
      try {
        return await lane.run(async () => hold(await attach(command, options)));
      } catch (error) {
        if (error instanceof QueueFullError) throw tooMuch();
        throw error;
      }
    },
  };
}

function tooMuch(): SallyportError {
  return new SallyportError(
    "overloaded",
    "Too many attachments are held by turns that run or wait; try again when some have ended.",
  );
}
