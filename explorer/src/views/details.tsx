// What is known about the selected line and value: facts, and the way through the stages.
import type { Provenance, Text } from "../contract.ts";
import { base } from "../format.ts";
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
  view,
} from "../state.ts";
import { chooseLayout } from "./layouts.tsx";

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
      <p class="empty">
        Click a source line, an operation or a value: its way from the source to machine code is listed here.
      </p>
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
  const chosen = chosenValue.value;
  if (!chosen) return null;
  const text = ready(textOf(chosen.text));
  const value = text?.values[chosen.index];
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
      {value.layout ? (
        <button
          type="button"
          onClick={() => {
            chooseLayout(value.layout ?? "", value.shape ?? []);
            view.value = "layouts";
          }}
        >
          Show layout
        </button>
      ) : null}
    </section>
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
        {found ? <PathList /> : null}
      </div>
    </aside>
  );
}
