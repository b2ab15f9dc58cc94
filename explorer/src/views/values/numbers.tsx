// The numbers of one value: a heat map with marks, and the element that is selected.
import { signal } from "@preact/signals";
import { useCallback, useMemo, useState } from "preact/hooks";
import type { Tensor, ValueSummary, ValuesRun } from "../../contract.ts";
import { resource } from "../../data.ts";
import { short, text } from "../../format.ts";
import { Grid, indexText, sides } from "../../grid.tsx";
import { Pending } from "../../parts.tsx";

export const element = signal(0);
export const iteration = signal(0);

const OUTSIDE = "#e8685f";
const NOT_FINITE = "#f0b23c";
const MASKED = "#b9c0ca";

interface Marks {
  outside: Set<number>;
  masked: Set<number>;
  low: number;
  high: number;
}

function marksOf(of: Tensor): Marks {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const one of of.numbers) {
    if (typeof one !== "number") continue;
    low = Math.min(low, one);
    high = Math.max(high, one);
  }
  return { outside: new Set(of.marks.out_of_bounds), masked: new Set(of.marks.masked), low, high };
}

/** Blue for the lowest, white for the middle, red-brown for the highest. */
function heat(share: number): string {
  const away = Math.abs(share - 0.5) * 2;
  return `hsl(${share < 0.5 ? 212 : 24} ${30 + 50 * away}% ${92 - 30 * away}%)`;
}

function isBad(value: number | string | null | undefined): boolean {
  return value === "nan" || value === "inf" || value === "-inf";
}

function firstBad(of: Tensor, marks: Marks): number {
  const outside = of.marks.out_of_bounds?.[0];
  return outside ?? of.numbers.findIndex((n, index) => isBad(n) && !marks.masked.has(index));
}

function kindOf(marks: Marks, index: number): string {
  if (marks.outside.has(index)) return " (out of bounds)";
  return marks.masked.has(index) ? " (masked)" : "";
}

export function Numbers(props: { of: Tensor }) {
  const { of } = props;
  const [hovered, setHovered] = useState(-1);
  const [rows, columns] = sides(of.shape);
  const marks = useMemo(() => marksOf(of), [of]);
  const fill = useCallback(
    (index: number) => {
      const value = of.numbers[index];
      if (marks.outside.has(index)) return OUTSIDE;
      if (marks.masked.has(index) || value === null || value === undefined) return MASKED;
      if (isBad(value)) return NOT_FINITE;
      if (typeof value === "string") return "#c9d6e8";
      return heat((value - marks.low) / (marks.high - marks.low || 1));
    },
    [of, marks],
  );
  const caption = useCallback((index: number) => short(of.numbers[index]), [of]);
  const shown = hovered >= 0 ? hovered : element.value;
  const bad = firstBad(of, marks);
  return (
    <>
      <div class="legend">
        {Number.isFinite(marks.low) ? (
          <span>
            {text(marks.low)} <i class="heat" /> {text(marks.high)}
          </span>
        ) : null}
        <span>
          <i style={{ background: OUTSIDE }} />
          out of bounds
        </span>
        <span>
          <i style={{ background: NOT_FINITE }} />
          NaN, infinity
        </span>
        <span>
          <i style={{ background: MASKED }} />
          masked
        </span>
        {bad >= 0 ? (
          <button
            type="button"
            class="link"
            onClick={() => {
              element.value = bad;
            }}
          >
            first marked element
          </button>
        ) : null}
      </div>
      <p class="readout" aria-live="polite">
        element {indexText(of.shape, shown)}: {text(of.numbers[shown])}
        {kindOf(marks, shown)}
      </p>
      <Grid
        label="Tensor"
        cell={29}
        rows={rows}
        columns={columns}
        selected={element.value}
        fill={fill}
        caption={caption}
        onHover={setHovered}
        onSelect={(index) => {
          element.value = index;
        }}
      />
      {of.truncated ? <p class="tip">Only the first {of.numbers.length} elements are shown.</p> : null}
    </>
  );
}

export function OneValue(props: { run: ValuesRun; of: ValueSummary }) {
  const { run, of } = props;
  const at = Math.min(iteration.value, Math.max(0, of.iterations - 1));
  return (
    <>
      <h3 class="value-title">
        <span class="mono">{of.name}</span> <span class="dim mono">{of.type}</span>
      </h3>
      {of.iterations > 1 ? (
        <label class="field">
          <span>
            iteration {at + 1} of {of.iterations}
          </span>
          <input
            type="range"
            min={0}
            max={of.iterations - 1}
            value={at}
            aria-label="Iteration"
            onInput={(e) => {
              iteration.value = Number(e.currentTarget.value);
            }}
          />
        </label>
      ) : null}
      <Pending of={resource<Tensor>(`api/values/${run.id}/${of.id}?iteration=${at}`).value} what="tensor">
        {(tensor) => <Numbers of={tensor} />}
      </Pending>
    </>
  );
}
