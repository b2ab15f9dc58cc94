// Small parts that several views share.
import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { Finding, Place, Text, Value } from "./contract.ts";
import type { Loaded } from "./data.ts";
import { base } from "./format.ts";
import { panel, place, view } from "./state.ts";

export function Pending<T>(props: { of: Loaded<T>; what: string; children: (data: T) => ComponentChildren }) {
  if (props.of.state === "loading") return <p class="empty">Loading {props.what} …</p>;
  if (props.of.state === "error") return <Message level="note" title={`No ${props.what}`} text={props.of.message} />;
  return <>{props.children(props.of.data)}</>;
}

export function Message(props: { level: "bad" | "note" | "good"; title: string; text?: string }) {
  return (
    <div class={`message ${props.level}`} role={props.level === "bad" ? "alert" : "status"}>
      <strong>{props.title}</strong>
      {props.text ? <pre tabIndex={0}>{props.text}</pre> : null}
    </div>
  );
}

export function goTo(where: Place): void {
  place.value = { ...where };
  view.value = "stages";
  panel.value = "source";
}

export function PlaceLink(props: { place: Place | null | undefined }) {
  const at = props.place;
  if (!at) return null;
  return (
    <button type="button" class="link" onClick={() => goTo(at)}>
      {base(at.file)}:{at.line}
      {at.column > 0 ? `:${at.column}` : ""}
    </button>
  );
}

export function Field(props: { label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is the child
    <label class="field">
      <span>{props.label}</span>
      {props.children}
    </label>
  );
}

/** One choice of several, as adjacent buttons. */
export function Segmented<T>(props: {
  label: string;
  options: (readonly [T, ComponentChildren])[];
  value: T;
  onChoose: (value: T) => void;
}) {
  return (
    <div class="segmented" role="group" aria-label={props.label}>
      {props.options.map(([value, label]) => (
        <button
          type="button"
          key={String(value)}
          aria-pressed={props.value === value}
          onClick={() => props.onChoose(value)}
        >
          {label}
        </button>
      ))}
    </div>
  );
}

/** A check box that shows and sets a signal. */
export function CheckBox(props: { of: Signal<boolean>; children: ComponentChildren }) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={props.of.value}
        onChange={(e) => {
          props.of.value = e.currentTarget.checked;
        }}
      />
      {props.children}
    </label>
  );
}

/** A button that opens and closes a part of the page. */
export function Expander(props: { of: Signal<boolean>; children: ComponentChildren }) {
  return (
    <button
      type="button"
      aria-expanded={props.of.value}
      onClick={() => {
        props.of.value = !props.of.value;
      }}
    >
      {props.children}
    </button>
  );
}

/** Resolve a name in a line of a text to the index of a value. */
export function valueAt(text: Text, line: number, word: string): number {
  const name = word.replace(/#\d+$/, "");
  for (const op of text.ops) {
    if (op.line !== line) continue;
    for (const index of [...op.results, ...op.operands]) if (text.values[index]?.name === name) return index;
  }
  let best = -1;
  text.values.forEach((value, index) => {
    if (value.name === name && value.line <= line) best = index;
  });
  return best;
}

export function valueFacts(value: Value): [string, string][] {
  const facts: [string, string][] = [["type", value.type]];
  if (value.layout) facts.push(["layout", value.layout]);
  if (value.shape) facts.push(["shape", value.shape.join(" x ")]);
  facts.push([value.argument ? "argument at" : "defined at", `line ${value.line}`]);
  facts.push(["uses", value.uses.length ? `lines ${value.uses.slice(0, 12).join(", ")}` : "none"]);
  return facts;
}

export function valueHint(text: Text, line: number, word: string): HTMLElement | null {
  const index = valueAt(text, line, word);
  const value = text.values[index];
  const box = document.createElement("div");
  box.className = "hint";
  const put = (name: string, said: string): void => {
    const row = box.appendChild(document.createElement("div"));
    row.appendChild(document.createElement("b")).textContent = name;
    row.appendChild(document.createElement("span")).textContent = said;
  };
  if (value) {
    put(value.name, "");
    for (const [name, said] of valueFacts(value)) put(name, said);
    return box;
  }
  const op = text.ops.find((one) => one.line === line && (one.name === word || one.note));
  if (!op || !(op.note || op.name === word)) return null;
  put(op.name, op.note);
  if (op.place) put("source", `${base(text.files[op.place[0]] ?? "")}:${op.place[1]}:${op.place[2]}`);
  return box;
}

export function Facts(props: { rows: [string, ComponentChildren][] }) {
  return (
    <dl class="facts">
      {props.rows.map(([name, value], index) => (
        <div key={index}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

const MAX_POINTED = 48;

/** The lines of machine code that a finding is about; spills are instructions, all others come from a source line. */
export function pointedLines(of: Finding, stage: string): number[] {
  const lines = of.lines[stage] ?? [];
  if (of.kind === "low-occupancy") return [];
  if (of.kind === "spills") return stage === "ptx" ? [] : lines;
  return lines.length <= MAX_POINTED ? lines : [];
}
