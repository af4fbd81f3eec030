import { useSignal } from "@preact/signals";
import type { Usage, UsageTotals } from "../../src/protocol/rest-objects.ts";
import { useRest } from "../state/use-rest.ts";
import { Page } from "../ui/page.tsx";
import { EmptyState, ErrorState, Spinner } from "../ui/states.tsx";
import { Segments } from "../ui/tab-list.tsx";
import { ModelTable } from "./model-table.tsx";
import { UsageChart } from "./usage-chart.tsx";
import { costText, shortCount, tokensOf } from "./usage-days.ts";
import "./usage-page.css";

const windows = [
  { value: "7", label: "7 days" },
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
] as const;

/** What the agents used: by day and by model. */
export function UsagePage() {
  const days = useSignal("30");
  const usage = useRest<Usage>(`/api/usage?days=${days.value}`);
  return (
    <Page title="Usage" lead="Tokens as the agents report them; days begin at midnight UTC.">
      <Segments
        label="How far back"
        value={days.value}
        onValue={(value) => {
          days.value = value;
        }}
        segments={windows}
      />
      {usage.problem !== null && <ErrorState problem={usage.problem} onRetry={usage.reload} />}
      {usage.value === null && usage.problem === null && <Spinner />}
      {usage.value !== null && <Report usage={usage.value} />}
    </Page>
  );
}

function Report({ usage }: { readonly usage: Usage }) {
  if (tokensOf(usage.window) === 0)
    return (
      <EmptyState icon="usage" title="Nothing was used in these days">
        <p>Agents with a model report their tokens here. The shell uses none.</p>
      </EmptyState>
    );
  return (
    <>
      <dl class="usage-totals">
        <Total name="Today" totals={usage.today} />
        <Total name="7 days" totals={usage.week} />
        {usage.days !== 7 && <Total name={`${usage.days} days`} totals={usage.window} />}
      </dl>
      <UsageChart usage={usage} />
      <ModelTable rows={usage.per_model} />
    </>
  );
}

function Total({ name, totals }: { readonly name: string; readonly totals: UsageTotals }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {shortCount(tokensOf(totals))} <small>tokens</small>
      </dd>
      {totals.cost !== null && <dd class="quiet-text">{costText(totals.cost)}</dd>}
    </div>
  );
}
