// Tensors of one program, and the first difference between stages.
import { signal } from "@preact/signals";
import { useCallback } from "preact/hooks";
import type { Check, Tensor, ValuesRun } from "../contract.ts";
import { resource } from "../data.ts";
import { text } from "../format.ts";
import { Grid, sides } from "../grid.tsx";
import { List } from "../list.tsx";
import { Field, Message, Pending, PlaceLink } from "../parts.tsx";
import { act, can, checkId, documentId, jobs, lastJob, selectPick, shownText, valuesRun, view } from "../state.ts";

const program = signal("0,0,0");
const chosen = signal(0);
const element = signal(0);

function Numbers(props: { of: Tensor }) {
  const { of } = props;
  const [rows, columns] = sides(of.shape);
  const finite = of.numbers.filter((n): n is number => typeof n === "number");
  const low = finite.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const high = finite.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const fill = useCallback(
    (index: number) => {
      const value = of.numbers[index];
      if (of.marks.out_of_bounds?.includes(index)) return "#e0524a";
      if (of.marks.masked?.includes(index) || value === null || value === undefined) return "#b8bec8";
      if (typeof value === "string") return "#e59a2f";
      return `hsl(${210 - (170 * (value - low)) / (high - low || 1)} 65% 72%)`;
    },
    [of],
  );
  const caption = useCallback((index: number) => text(of.numbers[index]), [of]);
  return (
    <>
      <div class="legend">
        <span>
          <i style={{ background: "#e0524a" }} />
          out of bounds
        </span>
        <span>
          <i style={{ background: "#e59a2f" }} />
          NaN, infinity
        </span>
        <span>
          <i style={{ background: "#b8bec8" }} />
          masked
        </span>
      </div>
      <Grid
        label="Tensor"
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
        element {element.value}: {text(of.numbers[element.value])}
      </p>
    </>
  );
}

function Run(props: { of: ValuesRun }) {
  const { of } = props;
  const one = of.values[chosen.value];
  return (
    <div class="split2">
      <section aria-label="Values of operations">
        <List
          label="Values"
          items={of.values}
          height={24}
          selected={chosen.value}
          onSelect={(index) => {
            chosen.value = index;
            element.value = 0;
          }}
          row={(v) => (
            <>
              <span class="mono name">
                {v.name} {v.op}
              </span>
              {v.nan + v.inf + v.out_of_bounds ? (
                <span class="tag warn">{v.nan + v.inf + v.out_of_bounds} marked</span>
              ) : null}
            </>
          )}
          name={(v) => `${v.name} ${v.op} ${v.type}`}
        />
      </section>
      <section aria-label="Numbers">
        {of.errors.map((e, index) => (
          <Message key={index} level="bad" title={e.message} />
        ))}
        {one ? (
          <Pending of={resource<Tensor>(`api/values/${of.id}/${one.id}?iteration=0`).value} what="tensor">
            {(tensor) => <Numbers of={tensor} key={one.id} />}
          </Pending>
        ) : null}
      </section>
    </div>
  );
}

function Verdict(props: { of: Check }) {
  const { finding } = props.of;
  return (
    <div>
      <Message
        level={props.of.state === "different" ? "bad" : props.of.state === "same" ? "good" : "note"}
        title={finding ? `First difference: ${finding.step}` : props.of.state}
        text={finding ? finding.message : props.of.message}
      />
      {finding ? (
        <p class="controls">
          <button
            type="button"
            onClick={() => {
              selectPick({ stage: finding.stage, pass: finding.pass });
              view.value = "stages";
            }}
          >
            Show the pass
          </button>
          <PlaceLink place={finding.place} />
          {finding.rewrite ? <code>{finding.rewrite.equation || finding.rewrite.rule}</code> : null}
        </p>
      ) : null}
    </div>
  );
}

export function ValuesView() {
  const job = jobs.value[lastJob.value];
  const failed = job && (job.kind === "values" || job.kind === "check") && job.state === "failed";
  return (
    <div class="view">
      <div class="controls">
        <Field label="program">
          <input
            type="text"
            size={8}
            value={program.value}
            onInput={(e) => {
              program.value = e.currentTarget.value;
            }}
          />
        </Field>
        <button
          type="button"
          disabled={!can("values")}
          onClick={() => {
            const ids = program.value.split(/[\s,x]+/).map(Number);
            void act("api/values", {
              document: documentId.value,
              text: shownText.value,
              program: ids,
              line: null,
              arguments: null,
              grid: null,
            });
          }}
        >
          Compute values
        </button>
        <button
          type="button"
          disabled={!can("check")}
          onClick={() => void act("api/check", { document: documentId.value })}
        >
          Check all stages
        </button>
      </div>
      {failed ? <Message level="bad" title="Failed" text={job.message} /> : null}
      {checkId.value ? (
        <Pending of={resource<Check>(`api/check/${checkId.value}`).value} what="check">
          {(of) => <Verdict of={of} />}
        </Pending>
      ) : null}
      {valuesRun.value ? (
        <Pending of={resource<ValuesRun>(`api/values/${valuesRun.value}`).value} what="values">
          {(of) => <Run of={of} />}
        </Pending>
      ) : null}
    </div>
  );
}
