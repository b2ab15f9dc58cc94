// Layouts of a kernel: tables of registers and shared memory, accesses with bank conflicts, conversions as movement.
import type { ComponentChildren } from "preact";
import type { Conversion, Layout, LayoutUse, SharedAccess, Text } from "../../contract.ts";
import { resource } from "../../data.ts";
import { List } from "../../list.tsx";
import { Field, Pending, Segmented } from "../../parts.tsx";
import { currentDocument, documentId, ready, shownText, textOf } from "../../state.ts";
import { AccessPicture } from "./access.tsx";
import { Movement } from "./conversion.tsx";
import {
  type Access,
  access,
  accessesOf,
  accessPath,
  bits,
  chooseLayout,
  conversionPath,
  conversionsOf,
  element,
  kindOf,
  layout,
  layoutPath,
  type Mode,
  type Move,
  mode,
  move,
  shape,
} from "./shown.ts";
import { LayoutTable } from "./table.tsx";

const MODES: [Mode, string][] = [
  ["layout", "Layouts"],
  ["access", "Bank conflicts"],
  ["conversion", "Conversions"],
];

function elements(use: LayoutUse): number {
  return use.shape.reduce((a, b) => a * b, 1);
}

/** The text whose operations are listed: the one shown, if it has layouts, or the last of ttgir. */
function layoutText(has: (text: Text) => boolean): Text | null {
  const shown = ready(textOf(shownText.value));
  if (shown && has(shown)) return shown;
  const stage = currentDocument.value?.stages.find((s) => s.name === "ttgir");
  return ready(textOf(stage?.after));
}

function Chooser(props: { label: string; rows: [string, string, () => void][]; selected: number; empty: string }) {
  if (!props.rows.length) return <p class="empty">{props.empty}</p>;
  return (
    <List
      label={props.label}
      items={props.rows}
      height={40}
      selected={props.selected}
      onSelect={(index) => props.rows[index]?.[2]()}
      row={([first, second]) => (
        <span class="two-lines">
          <span class="mono name">{first}</span>
          <span class="dim name">{second}</span>
        </span>
      )}
      name={([first, second]) => `${first}, ${second}`}
    />
  );
}

function ShapeField(props: { value: string; onChange: (value: string) => void }) {
  return (
    <Field label="shape">
      <input
        type="text"
        size={10}
        value={props.value}
        onChange={(e) => props.onChange(e.currentTarget.value.trim().replace(/[\s,]+/g, "x"))}
      />
    </Field>
  );
}

function TextField(props: { label: string; value: string; onChange: (value: string) => void }) {
  return (
    <label class="field wide-input">
      <span>{props.label}</span>
      <input type="text" value={props.value} onChange={(e) => props.onChange(e.currentTarget.value)} />
    </label>
  );
}

function BitsField(props: { value: number; onChange: (value: number) => void }) {
  return (
    <Field label="bits">
      <select value={props.value} onChange={(e) => props.onChange(Number(e.currentTarget.value))}>
        {[8, 16, 32, 64].map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
    </Field>
  );
}

function Panes(props: { chooser: ComponentChildren; children: ComponentChildren }) {
  return (
    <div class="split2">
      <section aria-label="What occurs in this kernel">
        <div class="bar">
          <Segmented
            label="Picture"
            options={MODES}
            value={mode.value}
            onChoose={(one) => {
              mode.value = one;
            }}
          />
        </div>
        {props.chooser}
      </section>
      <section aria-label="Picture">{props.children}</section>
    </div>
  );
}

function Tables() {
  const found = ready(resource<LayoutUse[]>(`api/layouts/${documentId.value}`).value) ?? [];
  const uses = [...found].sort((a, b) => elements(b) - elements(a));
  const first = uses[0];
  const attribute = layout.value || first?.layout || "";
  const sizes = shape.value || first?.shape.join("x") || "";
  const width = layout.value ? bits.value : (first?.bits ?? 32);
  const path = layoutPath(attribute, sizes, width);
  const selected = uses.findIndex((u) => u.layout === attribute && u.shape.join("x") === sizes && u.bits === width);
  const change = (next: { layout?: string; shape?: string; bits?: number }): void => {
    layout.value = next.layout ?? attribute;
    shape.value = next.shape ?? sizes;
    bits.value = next.bits ?? width;
    element.value = 0;
  };
  return (
    <Panes
      chooser={
        <Chooser
          label="Layouts"
          selected={selected}
          empty="This kernel has no layouts: they appear in ttgir."
          rows={uses.map((u) => [
            `${u.shape.join("x")} ${kindOf(u.layout)}`,
            `${u.bits} bits, ${u.count} value${u.count > 1 ? "s" : ""}: ${u.values.slice(0, 5).join(" ")}`,
            () => chooseLayout(u.layout, u.shape, u.bits),
          ])}
        />
      }
    >
      <div class="controls">
        <ShapeField value={sizes} onChange={(value) => change({ shape: value })} />
        <BitsField value={width} onChange={(value) => change({ bits: value })} />
        <TextField label="layout" value={attribute} onChange={(value) => change({ layout: value })} />
      </div>
      {attribute && sizes ? (
        <Pending of={resource<Layout>(path).value} what="layout">
          {(of) => <LayoutTable of={of} key={path} />}
        </Pending>
      ) : null}
    </Panes>
  );
}

function Accesses() {
  const text = layoutText((t) => accessesOf(t).length > 0);
  const found = text ? accessesOf(text) : [];
  const now: Access | null = access.value ?? found[0]?.of ?? null;
  const path = now ? accessPath(now) : "";
  const change = (next: Partial<Access>): void => {
    if (now) access.value = { ...now, ...next };
  };
  return (
    <Panes
      chooser={
        <Chooser
          label="Accesses to shared memory"
          selected={found.findIndex((f) => accessPath(f.of) === path)}
          empty="This kernel has no access to shared memory by layouts. It has one in ttgir after the pipeliner, or where a dot reads its operands."
          rows={found.map((f) => [
            `${f.of.shape} ${f.name}`,
            `line ${f.line}: ${kindOf(f.of.registers)}, ${kindOf(f.of.shared)}`,
            () => {
              access.value = f.of;
            },
          ])}
        />
      }
    >
      {now ? (
        <>
          <div class="controls">
            <ShapeField value={now.shape} onChange={(value) => change({ shape: value })} />
            <BitsField value={now.bits} onChange={(value) => change({ bits: value })} />
            <TextField label="registers" value={now.registers} onChange={(value) => change({ registers: value })} />
            <TextField label="shared memory" value={now.shared} onChange={(value) => change({ shared: value })} />
          </div>
          <Pending of={resource<SharedAccess>(path).value} what="access">
            {(of) => <AccessPicture of={of} key={path} />}
          </Pending>
        </>
      ) : (
        <p class="empty">Choose an access, or a step of ttgir that has one.</p>
      )}
    </Panes>
  );
}

function Conversions() {
  const text = layoutText((t) => conversionsOf(t).length > 0);
  const found = text ? conversionsOf(text) : [];
  const now: Move | null = move.value ?? found[0]?.of ?? null;
  const path = now ? conversionPath(now) : "";
  const change = (next: Partial<Move>): void => {
    if (!now) return;
    move.value = { ...now, ...next };
    element.value = 0;
  };
  return (
    <Panes
      chooser={
        <Chooser
          label="Conversions"
          selected={found.findIndex((f) => conversionPath(f.of) === path)}
          empty="The shown step has no ttg.convert_layout. Choose a step of ttgir that has one."
          rows={found.map((f) => [
            `${f.of.shape} ${f.name}`,
            `line ${f.line}: ${kindOf(f.of.source)} → ${kindOf(f.of.result)}`,
            () => {
              move.value = f.of;
              element.value = 0;
            },
          ])}
        />
      }
    >
      {now ? (
        <>
          <div class="controls">
            <ShapeField value={now.shape} onChange={(value) => change({ shape: value })} />
            <BitsField value={now.bits} onChange={(value) => change({ bits: value })} />
            <TextField label="from" value={now.source} onChange={(value) => change({ source: value })} />
            <TextField label="to" value={now.result} onChange={(value) => change({ result: value })} />
          </div>
          <Pending of={resource<Conversion>(path).value} what="conversion">
            {(of) => <Movement of={of} key={path} />}
          </Pending>
        </>
      ) : (
        <p class="empty">Choose a conversion.</p>
      )}
    </Panes>
  );
}

export function LayoutsView() {
  if (mode.value === "access") return <Accesses />;
  if (mode.value === "conversion") return <Conversions />;
  return <Tables />;
}
