// Which register, lane, warp and CTA holds an element, or at which bank of shared memory it is.
import { signal } from "@preact/signals";
import { useCallback } from "preact/hooks";
import type { Layout, LayoutUse } from "../contract.ts";
import { resource } from "../data.ts";
import { Grid, sides } from "../grid.tsx";
import { Field, Message, Pending } from "../parts.tsx";
import { documentId, ready } from "../state.ts";

const layout = signal("");
const shape = signal("");
const bits = signal(32);
const axisName = signal("lane");
const element = signal(0);

export function chooseLayout(attribute: string, of: number[]): void {
  layout.value = attribute;
  if (of.length) shape.value = of.join("x");
  element.value = 0;
}

function elements(use: LayoutUse): number {
  return use.shape.reduce((a, b) => a * b, 1);
}

function hue(number: number): string {
  return `hsl(${(number * 47) % 360} 60% ${72 - (Math.floor(number / 8) % 3) * 8}%)`;
}

function Shown(props: { of: Layout }) {
  const { of } = props;
  const [rows, columns] = sides(of.shape);
  const axis = Math.max(0, of.axes.indexOf(axisName.value));
  const number = useCallback(
    (index: number): number => (of.banks ? (of.banks[index] ?? 0) : (of.places[index]?.[0]?.[axis] ?? 0)),
    [of, axis],
  );
  const fill = useCallback((index: number) => hue(number(index)), [number]);
  const caption = useCallback((index: number) => String(number(index)), [number]);
  const holders = of.places[element.value] ?? [];
  const said = holders.map((h) => of.axes.map((name, i) => `${name} ${h[i]}`).join(", "));
  return (
    <>
      <p>{of.summary}</p>
      {of.broken ? <Message level="bad" title={of.broken} /> : null}
      {of.banks ? null : (
        <div class="segmented" role="group" aria-label="Colour by">
          {of.axes.map((name) => (
            <button
              type="button"
              key={name}
              aria-pressed={of.axes[axis] === name}
              onClick={() => {
                axisName.value = name;
              }}
            >
              {name}
            </button>
          ))}
        </div>
      )}
      <Grid
        label={of.banks ? "Banks of shared memory" : `Elements by ${of.axes[axis]}`}
        rows={rows}
        columns={columns}
        selected={element.value}
        fill={fill}
        caption={caption}
        onSelect={(index) => {
          element.value = index;
        }}
      />
      <p class="readout" aria-live="polite">
        element {element.value}: {said.slice(0, 4).join("; ")}
        {said.length > 4 ? ` and ${said.length - 4} more` : ""}
        {of.banks ? `, bank ${of.banks[element.value]}` : ""}
      </p>
    </>
  );
}

export function LayoutsView() {
  const found = ready(resource<LayoutUse[]>(`api/layouts/${documentId.value}`).value) ?? [];
  const uses = [...found].sort((a, b) => elements(b) - elements(a));
  const first = uses[0];
  const attribute = layout.value || first?.layout || "";
  const sizes = shape.value || first?.shape.join("x") || "";
  const width = layout.value ? bits.value : (first?.bits ?? 32);
  const path = `api/layout?layout=${encodeURIComponent(attribute)}&shape=${encodeURIComponent(sizes)}&bits=${width}`;
  return (
    <div class="view">
      <div class="controls">
        <Field label="used here">
          <select
            value=""
            onChange={(e) => {
              const one = uses[Number(e.currentTarget.value)];
              if (!one) return;
              chooseLayout(one.layout, one.shape);
              bits.value = one.bits;
            }}
          >
            <option value="">choose …</option>
            {uses.slice(0, 200).map((one, index) => (
              <option key={index} value={index}>
                {one.shape.join("x")} {one.layout.slice(0, 70)} ({one.count})
              </option>
            ))}
          </select>
        </Field>
        <Field label="shape">
          <input
            type="text"
            size={10}
            value={sizes}
            onChange={(e) => {
              layout.value = attribute;
              shape.value = e.currentTarget.value.replace(/[\s,]+/g, "x");
              element.value = 0;
            }}
          />
        </Field>
        <Field label="layout">
          <input
            type="text"
            size={60}
            value={attribute}
            onChange={(e) => {
              shape.value = sizes;
              layout.value = e.currentTarget.value;
            }}
          />
        </Field>
      </div>
      {attribute && sizes ? (
        <Pending of={resource<Layout>(path).value} what="layout">
          {(of) => <Shown of={of} key={path} />}
        </Pending>
      ) : (
        <p class="empty">This kernel has no layouts: they appear in ttgir.</p>
      )}
    </div>
  );
}
