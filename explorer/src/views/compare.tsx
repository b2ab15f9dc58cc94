// Two compiles side by side: inputs, times, resources, results, and the text of a stage as a diff.
import { signal } from "@preact/signals";
import type { Comparison } from "../contract.ts";
import { resource } from "../data.ts";
import { Diff } from "../editor.tsx";
import { text } from "../format.ts";
import { Field, Message, Pending } from "../parts.tsx";
import { compareWith, currentSession, documentId, ready, textOf } from "../state.ts";

const stage = signal("");

function Table(props: { title: string; rows: { name: string; a: unknown; b: unknown }[] }) {
  if (!props.rows.length) return null;
  return (
    <section aria-label={props.title}>
      <h3>{props.title}</h3>
      <table>
        <tbody>
          {props.rows.map((row) => (
            <tr key={row.name} class={text(row.a) === text(row.b) ? "" : "differs"}>
              <th scope="row">{row.name}</th>
              <td class="r">{text(row.a)}</td>
              <td class="r">{text(row.b)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function StageDiff(props: { of: Comparison }) {
  const both = props.of.stages.filter((s) => s.a && s.b);
  const one = both.find((s) => s.name === stage.value) ?? both.find((s) => !s.same) ?? both[0];
  if (!one) return null;
  const a = ready(textOf(one.a));
  const b = ready(textOf(one.b));
  return (
    <section aria-label="Stage texts">
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
      {a && b ? (
        <div class="tall">
          <Diff
            label={`Difference of ${one.name}`}
            before={a.text}
            text={b.text}
            language={b.language}
            split={false}
            collapse={true}
          />
        </div>
      ) : null}
    </section>
  );
}

export function CompareView() {
  const others = (currentSession.value?.documents ?? []).filter((d) => d.id !== documentId.value);
  const other = others.find((d) => d.id === compareWith.value) ?? others[0];
  if (!other)
    return (
      <p class="empty">Only one kernel was compiled. Compile it with other options or for another target to compare.</p>
    );
  const loaded = resource<Comparison>(`api/compare/${documentId.value}/${other.id}`).value;
  return (
    <div class="view">
      <Field label="compare with">
        <select
          value={other.id}
          onChange={(e) => {
            compareWith.value = e.currentTarget.value;
          }}
        >
          {others.map((d) => (
            <option key={d.id} value={d.id}>
              {d.id}: {d.label}
            </option>
          ))}
        </select>
      </Field>
      <Pending of={loaded} what="comparison">
        {(of) => (
          <>
            {of.first_difference ? (
              <Message level="note" title="First difference" text={of.first_difference.message} />
            ) : (
              <Message level="good" title="All outputs are the same" />
            )}
            {of.results ? <Message level="note" title="Results" text={of.results.message} /> : null}
            <div class="columns">
              <Table title="Inputs" rows={of.given} />
              <Table title="Times in ms" rows={of.times} />
              <Table title="Resources" rows={of.resources} />
            </div>
            <StageDiff of={of} />
          </>
        )}
      </Pending>
    </div>
  );
}
