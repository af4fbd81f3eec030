import type { Usage } from "../../src/protocol/rest-objects.ts";
import { scrollable } from "../ui/scrollable.ts";
import { visible } from "../ui/visible-text.ts";
import { costText, shortCount, tokensOf } from "./usage-days.ts";

/** What each model used in the window, the largest first. */
export function ModelTable({ rows }: { readonly rows: Usage["per_model"] }) {
  const sorted = [...rows].sort((a, b) => tokensOf(b) - tokensOf(a));
  return (
    <section class="usage-models" aria-label="By model" {...scrollable}>
      <table>
        <caption>By model</caption>
        <thead>
          <tr>
            <th scope="col">Model</th>
            <th scope="col">In</th>
            <th scope="col">Out</th>
            <th scope="col">Cached</th>
            <th scope="col">Cost</th>
          </tr>
        </thead>
        <tbody>
          {sorted.map((row) => (
            <tr key={row.model ?? ""}>
              <th scope="row">{row.model === null ? "Not named" : visible(row.model)}</th>
              <td>{shortCount(row.input_tokens)}</td>
              <td>{shortCount(row.output_tokens)}</td>
              <td>{shortCount(row.cache_read_tokens + row.cache_write_tokens)}</td>
              <td>{costText(row.cost)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
