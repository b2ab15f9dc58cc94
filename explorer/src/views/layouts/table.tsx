// One layout: which register, lane, warp and CTA holds an element, or at which bank of shared memory it is.
import { signal } from "@preact/signals";
import { useCallback, useState } from "preact/hooks";
import type { Layout } from "../../contract.ts";
import { Grid, hue, indexText, sides } from "../../grid.tsx";
import { Message, Segmented } from "../../parts.tsx";
import { element } from "./shown.ts";

const axisName = signal("lane");

function holderText(of: Layout, index: number): string {
  const holders = of.places[index] ?? [];
  const said = holders.map((h) => of.axes.map((name, i) => `${name} ${h[i]}`).join(", "));
  const more = said.length > 4 ? ` and ${said.length - 4} more` : "";
  const where = of.banks ? `, byte ${of.addresses?.[index] ?? "?"}, bank ${of.banks[index]}` : "";
  return `element ${indexText(of.shape, index)}: ${said.slice(0, 4).join("; ")}${more}${where}`;
}

export function LayoutTable(props: { of: Layout }) {
  const { of } = props;
  const [hovered, setHovered] = useState(-1);
  const [rows, columns] = sides(of.shape);
  const axis = Math.max(0, of.axes.indexOf(axisName.value));
  const number = useCallback(
    (index: number): number => (of.banks ? (of.banks[index] ?? 0) : (of.places[index]?.[0]?.[axis] ?? 0)),
    [of, axis],
  );
  const fill = useCallback((index: number) => hue(number(index)), [number]);
  const caption = useCallback((index: number) => String(number(index)), [number]);
  const chosen = Math.min(element.value, rows * columns - 1);
  const like = useCallback((index: number) => number(index) === number(chosen), [number, chosen]);
  const name = of.banks ? "bank" : (of.axes[axis] ?? "");
  return (
    <>
      <p>{of.summary}</p>
      {of.broken ? <Message level="bad" title={of.broken} /> : null}
      {of.banks ? (
        <p class="tip">Each cell shows the bank of the element's first byte; the outlined ones are in the same bank.</p>
      ) : (
        <div class="controls">
          <span class="dim">color by</span>
          <Segmented
            label="Color by"
            options={of.axes.map(
              (one, index) =>
                [
                  one,
                  <>
                    {one} <span class="dim">({of.sizes[index]})</span>
                  </>,
                ] as const,
            )}
            value={name}
            onChoose={(one) => {
              axisName.value = one;
            }}
          />
          <span class="tip">Outlined: all elements of the same {name} as the selected one.</span>
        </div>
      )}
      <p class="readout" aria-live="polite">
        {holderText(of, hovered >= 0 ? hovered : chosen)}
      </p>
      <Grid
        label={of.banks ? "Banks of shared memory" : `Elements by ${name}`}
        rows={rows}
        columns={columns}
        selected={chosen}
        fill={fill}
        caption={caption}
        like={like}
        onHover={setHovered}
        onSelect={(index) => {
          element.value = index;
        }}
      />
    </>
  );
}
