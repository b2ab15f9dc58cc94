// Tensors of one program at every operation, and the first difference between stages.
import { batch, signal } from "@preact/signals";
import type { Check, Document, ValueSummary, ValuesRun } from "../../contract.ts";
import { resource } from "../../data.ts";
import { trim } from "../../format.ts";
import { List } from "../../list.tsx";
import { CheckBox, Field, Message, Pending } from "../../parts.tsx";
import {
  act,
  can,
  checkId,
  currentDocument,
  jobs,
  lastJob,
  notice,
  openPick,
  selectPick,
  show,
  shownText,
  valuesRun,
} from "../../state.ts";
import { parseAssignments } from "../edit.tsx";
import { CheckButton, Verdict } from "./check.tsx";
import { element, iteration, OneValue } from "./numbers.tsx";

const program = signal([0, 0, 0]);
const grid = signal("");
const given = signal("");
const onlyMarked = signal(false);
/** The value that is shown: its index in the run. */
export const chosen = signal(0);

/** The steps whose IR can be evaluated. */
function texts(found: Document): [string, string][] {
  const made: [string, string][] = [];
  for (const stage of found.stages) {
    if (stage.language !== "mlir" || stage.name === "llir") continue;
    for (const pass of stage.passes) {
      if (pass.changed && pass.after) made.push([pass.after, `${stage.name}, after ${pass.name}`]);
    }
    if (stage.after) made.push([stage.after, stage.name]);
  }
  const last = new Map(made);
  return [...last];
}

function stepOf(found: Document, id: string): { stage: string; pass: number | null } | null {
  for (const stage of found.stages) {
    if (stage.after === id) return { stage: stage.name, pass: null };
    for (const pass of stage.passes) if (pass.after === id) return { stage: stage.name, pass: pass.index };
  }
  return null;
}

export function evaluate(found: Document, text: string): void {
  let values: Record<string, unknown> = {};
  try {
    values = parseAssignments(given.peek());
  } catch (error) {
    notice(error instanceof Error ? error.message : String(error));
    return;
  }
  batch(() => {
    chosen.value = -1;
    element.value = 0;
    iteration.value = 0;
  });
  const sizes = grid
    .peek()
    .split(/[\s,x]+/)
    .filter(Boolean)
    .map(Number);
  void act("api/values", {
    document: found.id,
    text,
    program: program.peek(),
    line: null,
    arguments: Object.keys(values).length ? values : null,
    grid: sizes.length ? sizes : null,
  });
}

function Controls(props: { found: Document; text: string; choices: [string, string][] }) {
  const { found, text, choices } = props;
  const launched = found.launch?.grid ?? [4, 1, 1];
  const known = (found.launch?.arguments ?? []).filter((a) => !/\[/.test(a.value)).map((a) => `${a.name}=${a.value}`);
  const job = jobs.value[lastJob.value];
  const running = job?.kind === "values" && job.state === "running";
  return (
    <form
      class="controls"
      onSubmit={(e) => {
        e.preventDefault();
        evaluate(found, text);
      }}
    >
      <Field label="IR">
        <select
          value={text}
          onChange={(e) => {
            const step = stepOf(found, e.currentTarget.value);
            if (step) selectPick(step);
          }}
        >
          {choices.map(([id, label]) => (
            <option key={id} value={id}>
              {label}
            </option>
          ))}
        </select>
      </Field>
      {["x", "y", "z"].map((name, axis) => (
        <Field label={axis ? name : "program x"} key={name}>
          <input
            type="number"
            min={0}
            class="short"
            value={program.value[axis] ?? 0}
            onInput={(e) => {
              program.value = program.value.map((old, i) => (i === axis ? Number(e.currentTarget.value) || 0 : old));
            }}
          />
        </Field>
      ))}
      <Field label="grid">
        <input
          type="text"
          size={8}
          placeholder={launched.join("x")}
          value={grid.value}
          onInput={(e) => {
            grid.value = e.currentTarget.value;
          }}
        />
      </Field>
      <Field label="arguments">
        <input
          type="text"
          size={22}
          placeholder={known.slice(0, 4).join(" ")}
          value={given.value}
          onInput={(e) => {
            given.value = e.currentTarget.value;
          }}
        />
      </Field>
      <button type="submit" class="primary" disabled={!can("values") || running}>
        {running ? "Evaluating …" : "Evaluate"}
      </button>
      <CheckButton />
    </form>
  );
}

function bad(of: ValueSummary): string {
  const said: string[] = [];
  if (of.out_of_bounds) said.push(`${of.out_of_bounds} out of bounds`);
  if (of.nan) said.push(`${of.nan} NaN`);
  if (of.inf) said.push(`${of.inf} inf`);
  return said.join(", ");
}

function range(of: ValueSummary): string {
  if (of.min === null || of.max === null) return "";
  return of.min === of.max ? trim(of.min) : `${trim(of.min)} … ${trim(of.max)}`;
}

function firstShown(of: ValuesRun): number {
  const outside = of.values.findIndex((v) => v.out_of_bounds);
  if (outside >= 0) return outside;
  const wrong = of.values.findIndex((v) => v.nan);
  if (wrong >= 0) return wrong;
  const loaded = of.values.findIndex((v) => v.op === "tt.load");
  return loaded >= 0 ? loaded : Math.max(0, of.values.length - 1);
}

function Run(props: { of: ValuesRun; found: Document | null }) {
  const { of, found } = props;
  const rows = of.values.map((value, index) => ({ value, index }));
  const shown = onlyMarked.value ? rows.filter((r) => bad(r.value)) : rows;
  const index = of.values[chosen.value] ? chosen.value : firstShown(of);
  const one = of.values[index];
  const openLine = (line: number): void => {
    const step = found ? stepOf(found, of.text) : null;
    if (step) openPick(step);
    show(of.text, line);
  };
  return (
    <div class="split2 boxed">
      <section aria-label="Values of operations">
        <div class="bar">
          <span class="dim">program ({of.program.join(", ")})</span>
          <span class="grow" />
          <CheckBox of={onlyMarked}>marked only</CheckBox>
        </div>
        <List
          label="Values"
          items={shown}
          height={40}
          selected={shown.findIndex((r) => r.index === index)}
          onSelect={(at) => {
            chosen.value = shown[at]?.index ?? 0;
            element.value = 0;
          }}
          row={({ value }) => (
            <span class="two-lines">
              <span class="name">
                <span class="mono">{value.name}</span> <span class="dim mono">{value.op}</span>
              </span>
              <span class="name dim">
                {bad(value) ? (
                  <span class={value.nan + value.out_of_bounds ? "tag bad" : "tag warn"}>{bad(value)}</span>
                ) : null}{" "}
                line {value.line}
                {value.masked ? `, ${value.masked} masked` : ""} {range(value)}
              </span>
            </span>
          )}
          name={({ value }) => `${value.name} ${value.op} ${value.type}, line ${value.line}, ${bad(value)}`}
        />
      </section>
      <section aria-label="Numbers">
        {of.errors.map((e, at) => (
          <div class="problem" key={at}>
            <Message
              level="bad"
              title={e.message}
              {...(e.elements.length ? { text: `elements ${e.elements.slice(0, 12).join(", ")}` } : {})}
            />
            {e.line ? (
              <button type="button" class="link" onClick={() => openLine(e.line)}>
                line {e.line}
              </button>
            ) : null}
          </div>
        ))}
        {one ? (
          <>
            <OneValue run={of} of={one} key={`${of.id}/${one.id}`} />
            <p class="tip">
              <button type="button" class="link" onClick={() => openLine(one.line)}>
                show line {one.line} in the IR
              </button>{" "}
              Program ({of.program.join(", ")}) of a grid of {of.grid.join("x")}; inputs: {of.inputs}.
            </p>
          </>
        ) : null}
      </section>
    </div>
  );
}

export function ValuesView() {
  const found = currentDocument.value;
  if (!found) return <p class="empty">No kernel is selected.</p>;
  const job = jobs.value[lastJob.value];
  const failed = job && (job.kind === "values" || job.kind === "check") && job.state === "failed";
  const choices = texts(found);
  const text = choices.find(([id]) => id === shownText.value)?.[0] ?? choices[choices.length - 1]?.[0];
  const run = valuesRun.value ? resource<ValuesRun>(`api/values/${valuesRun.value}`).value : null;
  const mine = run?.state === "ready" && run.data.document === found.id;
  const check = checkId.value ? resource<Check>(`api/check/${checkId.value}`).value : null;
  return (
    <div class="view full">
      <div class="view-head">
        {text ? <Controls found={found} text={text} choices={choices} /> : null}
        {failed ? <Message level="bad" title={`${job.kind} failed`} text={job.message} /> : null}
        {check && (check.state !== "ready" || check.data.document === found.id) ? (
          <Pending of={check} what="check">
            {(of) => <Verdict of={of} />}
          </Pending>
        ) : null}
        {mine ? null : (
          <p class="empty">
            {can("values")
              ? "Evaluate runs one program of the chosen IR with NumPy and keeps the tensor of every operation. Arguments are those of the launch, or random."
              : "The tensors of operations are computed by a running explorer; they are not in an exported file."}
          </p>
        )}
      </div>
      {run && mine ? (
        <Pending of={run} what="values">
          {(of) => <Run of={of} found={found} />}
        </Pending>
      ) : null}
    </div>
  );
}
