// Two compiles side by side: inputs, times, resources, results, and the texts of a stage.
import { signal } from "@preact/signals";
import type { Comparison, DocumentSummary } from "../contract.ts";
import { resource } from "../data.ts";
import { Diff } from "../editor.tsx";
import { text, trim } from "../format.ts";
import { CheckBox, Field, Message, Pending, Segmented } from "../parts.tsx";
import { compareWith, currentSession, documentId, openDocument, ready, textOf } from "../state.ts";

const stage = signal("");
const unified = signal(false);
const SHOWN: [boolean, string][] = [
  [false, "Side by side"],
  [true, "Diff"],
];
const folded = signal(true);

interface Names {
  a: string;
  b: string;
}

interface Row {
  name: string;
  a: unknown;
  b: unknown;
}

function change(row: Row): string {
  if (typeof row.a !== "number" || typeof row.b !== "number" || !row.a || row.a === row.b) return "";
  const share = (100 * (row.b - row.a)) / row.a;
  return `${share > 0 ? "+" : ""}${share.toFixed(Math.abs(share) < 10 ? 1 : 0)}%`;
}

function Table(props: { title: string; rows: Row[]; names: Names; marks: boolean }) {
  if (!props.rows.length) return null;
  const changes = props.rows.some((row) => change(row));
  return (
    <section aria-label={props.title}>
      <h3>{props.title}</h3>
      <table>
        <thead>
          <tr>
            <td />
            <th scope="col" class="r">
              {props.names.a}
            </th>
            <th scope="col" class="r">
              {props.names.b}
            </th>
            {changes ? <td /> : null}
          </tr>
        </thead>
        <tbody>
          {props.rows.map((row) => (
            <tr key={row.name} class={props.marks && text(row.a) !== text(row.b) ? "differs" : ""}>
              <th scope="row">{row.name}</th>
              <td class="r">{text(row.a)}</td>
              <td class="r">{text(row.b)}</td>
              {changes ? <td class="r dim">{change(row)}</td> : null}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Results(props: { of: NonNullable<Comparison["results"]> }) {
  const { of } = props;
  const wrong = (of.arguments ?? []).some((one) => one.different);
  return (
    <section aria-label="Results">
      <h3>Results</h3>
      <Message level={!of.available ? "note" : wrong ? "bad" : "good"} title={of.message} />
      {of.available && of.arguments?.length ? (
        <table>
          <thead>
            <tr>
              <th scope="col">argument</th>
              <th scope="col" class="r">
                different
              </th>
              <th scope="col" class="r">
                elements
              </th>
              <th scope="col" class="r">
                largest difference
              </th>
            </tr>
          </thead>
          <tbody>
            {of.arguments.map((one) => (
              <tr key={one.name} class={one.different ? "differs" : ""}>
                <th scope="row">{one.name}</th>
                <td class="r">{one.different}</td>
                <td class="r">{one.elements}</td>
                <td class="r">{trim(one.largest)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : null}
    </section>
  );
}

function StageDiff(props: { of: Comparison; names: Names }) {
  const both = props.of.stages.filter((s) => s.a && s.b);
  const one = both.find((s) => s.name === stage.value) ?? both.find((s) => !s.same) ?? both[0];
  if (!one) return null;
  const a = ready(textOf(one.a));
  const b = ready(textOf(one.b));
  return (
    <section aria-label="Stage texts">
      <div class="controls">
        <Field label="stage">
          <select
            value={one.name}
            onChange={(e) => {
              stage.value = e.currentTarget.value;
            }}
          >
            {both.map((s) => (
              <option key={s.name} value={s.name}>
                {s.name}
                {s.same ? " (same)" : ""}
              </option>
            ))}
          </select>
        </Field>
        <Segmented
          label="How the texts are shown"
          options={SHOWN}
          value={unified.value}
          onChoose={(one) => {
            unified.value = one;
          }}
        />
        <CheckBox of={folded}>fold</CheckBox>
      </div>
      {a && b ? (
        <div class="tall">
          {unified.value ? null : (
            <div class="pair-heads" aria-hidden="true">
              <span>{props.names.a}</span>
              <span>{props.names.b}</span>
            </div>
          )}
          <Diff
            label={`Difference of ${one.name}`}
            before={a.text}
            text={b.text}
            language={b.language}
            split={!unified.value}
            collapse={folded.value}
          />
        </div>
      ) : (
        <p class="empty">Loading {one.name} …</p>
      )}
    </section>
  );
}

/** The document that is compared unless another is chosen: its base, an edit of it, or one of the same kernel. */
function nearest(all: DocumentSummary[], now: DocumentSummary | undefined): DocumentSummary | undefined {
  const others = all.filter((d) => d.id !== now?.id);
  return (
    others.find((d) => d.id === now?.parent) ??
    [...others].reverse().find((d) => d.parent === now?.id) ??
    others.find((d) => d.kernel === now?.kernel) ??
    others[0]
  );
}

function Choice(props: { label: string; value: string; of: DocumentSummary[]; onChange: (id: string) => void }) {
  return (
    <Field label={props.label}>
      <select value={props.value} onChange={(e) => props.onChange(e.currentTarget.value)}>
        {props.of.map((d) => (
          <option key={d.id} value={d.id}>
            {d.id}: {d.label}
            {d.parent ? `, edit of ${d.parent}` : ""}
          </option>
        ))}
      </select>
    </Field>
  );
}

export function CompareView() {
  const all = currentSession.value?.documents ?? [];
  const now = all.find((d) => d.id === documentId.value);
  const others = all.filter((d) => d.id !== documentId.value);
  const other = others.find((d) => d.id === compareWith.value) ?? nearest(all, now);
  if (!other || !now)
    return (
      <p class="empty">Only one kernel was compiled. Compile it with other options or for another target to compare.</p>
    );
  const [first, second] = all.indexOf(now) < all.indexOf(other) ? [now, other] : [other, now];
  const loaded = resource<Comparison>(`api/compare/${first.id}/${second.id}`).value;
  const names = { a: first.id, b: second.id };
  return (
    <div class="view">
      <div class="controls">
        <Choice label="compare" value={now.id} of={all} onChange={(id) => void openDocument(id)} />
        <Choice
          label="with"
          value={other.id}
          of={others}
          onChange={(id) => {
            compareWith.value = id;
          }}
        />
      </div>
      <Pending of={loaded} what="comparison">
        {(of) => (
          <>
            {of.first_difference ? (
              <Message level="note" title="First difference" text={of.first_difference.message} />
            ) : (
              <Message level="good" title="The texts of all steps are the same" />
            )}
            <div class="columns">
              <Table title="Resources" rows={of.resources} names={names} marks={true} />
              <Table title="Compile times in ms" rows={of.times} names={names} marks={false} />
              {of.results ? <Results of={of.results} /> : null}
              <Table title="Inputs that differ" rows={of.given} names={names} marks={false} />
            </div>
            <StageDiff of={of} names={names} />
          </>
        )}
      </Pending>
    </div>
  );
}
