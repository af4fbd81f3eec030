import { useSignal } from "@preact/signals";
import type { Tab } from "../../src/protocol/objects.ts";
import type { ModelList } from "../../src/protocol/rest-objects.ts";
import { useSession } from "../state/session.ts";
import { useRest } from "../state/use-rest.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { SelectField, Switch } from "../ui/field.tsx";
import { ErrorState, Spinner } from "../ui/states.tsx";
import { visible } from "../ui/visible-text.ts";
import { RuntimeField } from "./runtime-field.tsx";

/** Chooses what new conversations of a tab run, and with which model. */
export function TabRuntime({ tab, onClose }: { readonly tab: Tab; readonly onClose: () => void }) {
  const session = useSession();
  const list = useRest<ModelList>("/api/models");
  const runtime = useSignal(tab.runtime);
  const model = useSignal(tab.model ?? "");
  const isForProject = useSignal(false);
  const models = list.value?.models.filter((one) => one.runtime === runtime.value) ?? [];

  async function save(): Promise<void> {
    const reply = await session.act({
      type: "tab_runtime",
      tab: tab.id,
      runtime: runtime.value,
      project: isForProject.value,
      ...(model.value === "" ? {} : { model: model.value }),
    });
    if (reply !== null) onClose();
  }

  return (
    <Dialog
      title={`What runs in ${visible(tab.name)}`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" disabled={list.value === null} onClick={() => void save()}>
            Save
          </Button>
        </>
      }
    >
      {list.problem !== null && <ErrorState problem={list.problem} onRetry={list.reload} />}
      {list.value === null && list.problem === null && <Spinner />}
      {list.value !== null && (
        <>
          <RuntimeField
            list={list.value}
            value={runtime.value}
            onValue={(name) => {
              runtime.value = name;
              model.value = "";
            }}
          />
          {models.length > 0 && (
            <SelectField
              label="Model"
              value={model.value}
              onValue={(value) => {
                model.value = value;
              }}
              options={[
                { value: "", label: "As it chooses by itself" },
                ...models.map(({ id, name }) => ({ value: id, label: visible(name) })),
              ]}
            />
          )}
          <Switch
            label="For this folder from now on"
            hint="New tabs on the same folder begin with it."
            isOn={isForProject.value}
            onChange={(isOn) => {
              isForProject.value = isOn;
            }}
          />
          <p class="quiet-text">Conversations that are open go on with what they have.</p>
        </>
      )}
    </Dialog>
  );
}
