import "./tab-list.css";
import { useRedraw } from "./use-redraw.ts";

interface Segment {
  readonly value: string;
  readonly label: string;
  readonly count?: number;
}
interface SegmentsProps {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly segments: readonly Segment[];
}

/**
 * One of two to four, side by side: radio buttons that look like a switch, with their keys. Shows `value`, whatever was
 * touched: a choice that is refused, or asked about first, is not made.
 */
export function Segments({ label, value, onValue, segments }: SegmentsProps) {
  const redraw = useRedraw();
  return (
    <fieldset class="segments">
      <legend class="unseen">{label}</legend>
      {segments.map((segment) => (
        <label key={segment.value}>
          <input
            type="radio"
            name={label}
            value={segment.value}
            checked={segment.value === value}
            onChange={() => {
              redraw();
              onValue(segment.value);
            }}
          />
          <span>
            {segment.label}
            {segment.count !== undefined && <small> {segment.count}</small>}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
