// What is known about the selected line and value: facts, and the way through the stages.
import type { Document, Provenance, Text, ValuesRun } from "../contract.ts";
import { resource } from "../data.ts";
import { base, trim } from "../format.ts";
import { Facts, PlaceLink, valueFacts } from "../parts.tsx";
import {
  chosenValue,
  currentDocument,
  linesAtStep,
  panel,
  pick,
  place,
  provenance,
  ready,
  selectPick,
  show,
  shownText,
  textOf,
  valuesRun,
  view,
} from "../state.ts";
import { bitsOf, chooseLayout } from "./layouts/shown.ts";
import { chosen } from "./values/view.tsx";

interface Stop {
  index: number;
  label: string;
  stage: string;
  pass: number | null;
  text: string;
  lines: number[];
}

function stops(found: Provenance): Stop[] {
  const where = place.value;
  if (!where) return [];
  return found.steps.map((step, index) => ({ index, ...step, lines: linesAtStep(index, where, found) }));
}

function openStop(stop: Stop): void {
  selectPick({ stage: stop.stage, pass: stop.pass });
  const line = stop.lines[0];
  if (line) show(stop.text, line);
  panel.value = "ir";
}

/** Go to the next, or the last, step that has lines of the selected place. */
export function stepPath(by: number): boolean {
  const found = provenance.value;
  if (!found || !place.value) return false;
  const all = stops(found).filter((s) => s.lines.length);
  const shown = shownText.value;
  const at = all.findIndex((s) => s.text === shown);
  const next = all[at < 0 ? 0 : Math.max(0, Math.min(all.length - 1, at + by))];
  if (next) openStop(next);
  return next !== undefined;
}

function lineText(text: Text | null, line: number): string {
  if (!text) return "";
  let from = 0;
  for (let at = 1; at < line; at++) {
    from = text.text.indexOf("\n", from) + 1;
    if (!from) return "";
  }
  const to = text.text.indexOf("\n", from);
  return text.text.slice(from, to < 0 ? undefined : to).trim();
}

function PathList() {
  const found = provenance.value;
  const where = place.value;
  if (!where) {
    return (
      <p class="empty">Click a source line, an operation or a value to list its way from the source to machine code.</p>
    );
  }
  if (!found) return <p class="empty">Loading the path …</p>;
  const all = stops(found);
  if (!all.some((s) => s.lines.length)) {
    return (
      <p class="empty">
        No operation of any stage comes from {base(where.file)}:{where.line}.
      </p>
    );
  }
  return (
    <ol class="path" aria-label="Way through the stages">
      {all.map((stop) => {
        const id = stop.text;
        const shown = pick.value.stage === stop.stage && shownText.value === id;
        const lines = stop.lines;
        return (
          <li key={stop.index} class={lines.length ? "" : "gone"}>
            <button
              type="button"
              aria-current={shown ? "step" : undefined}
              disabled={!lines.length}
              onClick={() => openStop(stop)}
            >
              <span class="label">{stop.label}</span>
              <span class="lines">
                {lines.length ? `${lines.length} line${lines.length > 1 ? "s" : ""}` : "nothing left"}
              </span>
              {shown ? <code>{lineText(ready(textOf(id)), lines[0] ?? 1)}</code> : null}
            </button>
          </li>
        );
      })}
    </ol>
  );
}

function ValueFacts() {
  const selected = chosenValue.value;
  if (!selected) return null;
  const text = ready(textOf(selected.text));
  const value = text?.values[selected.index];
  if (!text || !value) return null;
  return (
    <section aria-label="Value" class="value-facts">
      <h3 class="mono">{value.name}</h3>
      <Facts rows={valueFacts(value).map(([name, said]) => [name, <code>{said}</code>])} />
      {value.uses.length ? (
        <p class="links">
          {value.uses.slice(0, 16).map((line) => (
            <button type="button" class="link" key={line} onClick={() => show(text.id, line)}>
              use at {line}
            </button>
          ))}
        </p>
      ) : null}
      <Evaluated text={text} name={value.name} line={value.line} />
      {value.layout ? (
        <button
          type="button"
          onClick={() => {
            chooseLayout(value.layout ?? "", value.shape ?? [], bitsOf(value.type));
            view.value = "layouts";
          }}
        >
          Show layout
        </button>
      ) : null}
    </section>
  );
}

/** What is known of the kernel as a whole, while nothing is selected. */
function KernelFacts(props: { of: Document }) {
  const { of } = props;
  const rows: [string, preact.ComponentChildren][] = [["target", <code>{of.target}</code>]];
  if (of.summary) rows.push(["resources", of.summary]);
  const constants = Object.entries(of.constants).map(([name, value]) => `${name}=${value}`);
  if (constants.length) rows.push(["constants", <code>{constants.join(" ")}</code>]);
  const options = ["num_warps", "num_stages", "num_ctas"].filter((name) => of.options[name] !== undefined);
  if (options.length) rows.push(["options", <code>{options.map((n) => `${n}=${of.options[n]}`).join(" ")}</code>]);
  if (of.launch) {
    const { grid, count } = of.launch;
    rows.push(["launch", `grid ${grid.join("x")}, ${count === 1 ? "once" : `${count} times`}`]);
    rows.push(["arguments", <code>{of.launch.arguments.map((a) => `${a.name}: ${a.value}`).join(", ")}</code>]);
  }
  if (of.cache.state !== "unknown")
    rows.push(["cache", [of.cache.state, of.cache.reason.split("\n")[0]].filter(Boolean).join(": ")]);
  return (
    <section class="mini" aria-label="Kernel">
      <h3 class="mono">{of.kernel || "passes"}</h3>
      <Facts rows={rows} />
    </section>
  );
}

/** The tensor of the selected value, where a program was evaluated on the shown text. */
function Evaluated(props: { text: Text; name: string; line: number }) {
  const run = valuesRun.value ? ready(resource<ValuesRun>(`api/values/${valuesRun.value}`).value) : null;
  if (run?.text !== props.text.id) return null;
  const index = run.values.findIndex((v) => v.line === props.line && v.name === props.name);
  const one = run.values[index];
  if (!one) return null;
  const marks = [
    one.out_of_bounds ? `${one.out_of_bounds} out of bounds` : "",
    one.nan ? `${one.nan} NaN` : "",
    one.inf ? `${one.inf} infinite` : "",
    one.masked ? `${one.masked} masked` : "",
  ].filter(Boolean);
  return (
    <p class="links">
      <span>
        program ({run.program.join(", ")}): {one.min === null ? "" : `${trim(one.min)} … ${trim(one.max ?? one.min)}`}
        {marks.length ? `; ${marks.join(", ")}` : ""}
      </span>
      <button
        type="button"
        class="link"
        onClick={() => {
          chosen.value = index;
          view.value = "values";
        }}
      >
        show the numbers
      </button>
    </p>
  );
}

export function Details() {
  const found = currentDocument.value;
  return (
    <aside class="pane details" aria-label="Details">
      <header class="pane-head">
        <h2>Details</h2>
        <PlaceLink place={place.value} />
        {place.value ? (
          <button
            type="button"
            class="link"
            onClick={() => {
              place.value = null;
              chosenValue.value = null;
            }}
          >
            clear
          </button>
        ) : null}
      </header>
      <div class="scroll" tabIndex={0} role="region" aria-label="Details of the selection">
        <ValueFacts />
        {found && !place.value && !chosenValue.value ? <KernelFacts of={found} /> : null}
        {found ? <PathList /> : null}
      </div>
    </aside>
  );
}
