import type { Agent, Mode, TabWithAgents } from "../../src/protocol/objects.ts";
import type { RuntimeRow } from "../../src/protocol/rest-objects.ts";
import { proseText } from "../markdown/prose-text.ts";
import { useSession } from "../state/session.ts";
import { Dialog } from "../ui/dialog.tsx";
import { SelectField } from "../ui/field.tsx";
import { Segments } from "../ui/tab-list.tsx";
import { useRuntime } from "./use-runtime.ts";

interface RunSettingsProps {
  readonly agent: Agent;
  readonly tab: TabWithAgents | null;
  readonly onClose: () => void;
}

export const modeTexts: Readonly<Record<Mode, { readonly label: string; readonly hint: string }>> = {
  ask: { label: "Ask", hint: "Asks before it runs a command or changes a file." },
  edits: {
    label: "Edits",
    hint: "Changes files by itself, but for those that run something; asks before commands.",
  },
  autopilot: { label: "Autopilot", hint: "Runs and changes by itself. Your deny rules still count." },
};

/** Mode of the tab, and model and thinking of the agent, where it has any to choose. */
export function RunSettings({ agent, tab, onClose }: RunSettingsProps) {
  const session = useSession();
  const models = (session.snapshot.value?.models ?? []).filter(({ runtime }) => runtime === agent.runtime);
  const model = models.find(({ id }) => id === agent.model);
  const levels = model?.thinking ?? [];
  const runtime = useRuntime(agent.runtime);
  const mode = tab?.mode ?? "ask";
  // A looser mode makes things run without a question: that needs the right to answer them.
  const mayLoosen = session.may("drive", "approve");
  const modes = (["ask", "edits", "autopilot"] as const).filter(
    (each) => mayLoosen || each === "ask" || each === mode,
  );
  return (
    <Dialog title="How it runs" onClose={onClose}>
      {tab !== null && (
        <>
          <Segments
            label="Mode of the tab"
            value={mode}
            onValue={(value) => void session.act({ type: "mode", tab: tab.id, mode: value as Mode })}
            segments={modes.map((value) => ({ value, label: modeTexts[value].label }))}
          />
          <p class="quiet-text">
            {modeTexts[mode].hint} Counts for all agents of the tab.
            {!mayLoosen && " A looser mode needs the right to approve."}
          </p>
        </>
      )}
      {models.length > 0 && (
        <SelectField
          label="Model"
          value={agent.model ?? ""}
          onValue={(value) => void session.act({ type: "model", agent: agent.id, model: value })}
          options={[
            ...(agent.model === null || model === undefined
              ? [{ value: agent.model ?? "", label: agent.model ?? "The default" }]
              : []),
            ...models.map(({ id, name }) => ({ value: id, label: name })),
          ]}
          hint="Counts from the next prompt on."
        />
      )}
      {levels.length > 0 && (
        <SelectField
          label="Thinking"
          value={agent.thinking ?? ""}
          onValue={(value) =>
            void session.act({ type: "thinking", agent: agent.id, thinking: value === "" ? null : value })
          }
          options={[
            { value: "", label: "As the model does by itself" },
            ...levels.map((level) => ({ value: level, label: level })),
          ]}
        />
      )}
      <RuntimeText agent={agent} runtime={runtime} note={tab?.note ?? null} />
    </Dialog>
  );
}

interface RuntimeTextProps {
  readonly agent: Agent;
  readonly runtime: RuntimeRow | null;
  readonly note: string | null;
}

/** What runs here, how it is, and what one must know of it. */
function RuntimeText({ agent, runtime, note }: RuntimeTextProps) {
  return (
    <>
      <p class="quiet-text">
        {runtime === null
          ? `Runs on ${proseText(agent.runtime)}, which this daemon does not have any more.`
          : `${proseText(runtime.title)}${runtime.version === null ? "" : ` ${proseText(runtime.version)}`}: ${proseText(runtime.message)}`}{" "}
        {runtime?.next != null && proseText(runtime.next)}
      </p>
      {note !== null && <p class="quiet-text">{proseText(note)}</p>}
    </>
  );
}
