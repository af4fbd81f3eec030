import type { AwakeMode } from "../../src/protocol/objects.ts";
import { useSession } from "../state/session.ts";
import { Segments } from "../ui/tab-list.tsx";

const modes: readonly { readonly value: AwakeMode; readonly label: string }[] = [
  { value: "off", label: "As usual" },
  { value: "busy", label: "While it works" },
  { value: "always", label: "Always" },
];

/** Whether the daemon's machine may fall asleep: a laptop that sleeps answers no phone. */
export function AwakeChoice() {
  const session = useSession();
  const awake = session.snapshot.value?.awake;
  if (awake === undefined) return null;
  return (
    <section aria-labelledby="awake-title">
      <h2 id="awake-title">Keep the machine awake</h2>
      {awake.available ? (
        <Segments
          label="Keep the machine awake"
          value={awake.mode}
          onValue={(mode) => void session.act({ type: "keep_awake", mode: mode as AwakeMode })}
          segments={modes}
        />
      ) : (
        <p class="quiet-text">{awake.message ?? "This machine has nothing to keep it awake with."}</p>
      )}
      {awake.active && <p role="status">It is kept awake at the moment.</p>}
    </section>
  );
}
