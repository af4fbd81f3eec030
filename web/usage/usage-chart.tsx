import { useComputed, useSignal } from "@preact/signals";
import type { Usage } from "../../src/protocol/rest-objects.ts";
import { barsOf, costText, dayText, shortCount } from "./usage-days.ts";
import "./usage-chart.css";

const width = 640;
const height = 160;
const gap = 2;
/** A day with any use is seen, however small. */
const leastHeight = 3;

/** A bar for each day. The same numbers are in a table, which is what a screen reader gets. */
export function UsageChart({ usage }: { readonly usage: Usage }) {
  const bars = barsOf(usage);
  const chosen = useSignal<number | null>(null);
  const step = width / bars.length;
  const shown = useComputed(() => (chosen.value === null ? undefined : bars[chosen.value]));
  const bar = shown.value;
  return (
    <figure class="usage-chart">
      <figcaption>
        {bar === undefined ? (
          <>Tokens by day</>
        ) : (
          <>
            <strong>{dayText(bar.day)}</strong> {shortCount(bar.tokens)} tokens
            {bar.cost !== null && <>, {costText(bar.cost)}</>}
          </>
        )}
      </figcaption>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        aria-hidden="true"
        onPointerLeave={() => {
          chosen.value = null;
        }}
      >
        {bars.map(({ day, tokens, share }, index) => {
          const tall = tokens === 0 ? 0 : Math.max(leastHeight, share * height);
          return (
            <g
              key={day}
              class={chosen.value === index ? "chosen" : undefined}
              onPointerEnter={() => {
                chosen.value = index;
              }}
            >
              <rect class="hit" x={index * step} y={0} width={step} height={height} />
              <rect
                class="bar"
                x={index * step + gap / 2}
                y={height - tall}
                width={Math.max(1, step - gap)}
                height={tall}
              />
            </g>
          );
        })}
      </svg>
      <p class="usage-ends" aria-hidden="true">
        <span>{dayText(usage.from)}</span>
        <span>{dayText(usage.to)}</span>
      </p>
      <div class="unseen">
        <table>
          <caption>Tokens by day</caption>
          <thead>
            <tr>
              <th scope="col">Day</th>
              <th scope="col">Tokens</th>
              <th scope="col">Cost</th>
            </tr>
          </thead>
          <tbody>
            {bars
              .filter(({ tokens }) => tokens > 0)
              .map(({ day, tokens, cost }) => (
                <tr key={day}>
                  <th scope="row">{dayText(day)}</th>
                  <td>{tokens}</td>
                  <td>{costText(cost)}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}
