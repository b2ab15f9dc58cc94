// Edit the source or the text of a stage, choose target and options, and compile from there.
import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import type { Text } from "../contract.ts";
import { wait } from "../data.ts";
import { Field } from "../parts.tsx";
import { act, can, currentDocument, currentSession, jobs, lastJob, notice, panel } from "../state.ts";

export interface Draft {
  stage: string;
  /** What its editor is called: the name of the source file, or of the stage. */
  name: string;
  /** The line that the editor shows first. */
  line: number;
  text: string;
  original: string;
}

export const draft = signal<Draft | null>(null);
export const optionsOpen = signal(false);
const target = signal("");
const optionText = signal("");
const constantText = signal("");

/** "num_warps=8 allow_x=false" as an object; numbers and truth values are not texts. */
export function parseAssignments(text: string): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  for (const part of text.split(/[\s,]+/).filter(Boolean)) {
    const at = part.indexOf("=");
    if (at < 1) throw new Error(`"${part}" is not of the form name=value`);
    const raw = part.slice(at + 1);
    const lowered = raw.toLowerCase();
    made[part.slice(0, at)] =
      lowered === "true"
        ? true
        : lowered === "false"
          ? false
          : lowered === "none"
            ? null
            : raw !== "" && !Number.isNaN(Number(raw))
              ? Number(raw)
              : raw;
  }
  return made;
}

export async function compileDraft(): Promise<void> {
  const found = currentDocument.peek();
  if (!found) return;
  const edited = draft.peek();
  let options: Record<string, unknown> = {};
  let constants: Record<string, unknown> = {};
  try {
    options = parseAssignments(optionText.peek());
    constants = parseAssignments(constantText.peek());
  } catch (error) {
    notice(error instanceof Error ? error.message : String(error));
    return;
  }
  const changed = edited && edited.text !== edited.original;
  await act("api/compile", {
    base: found.id,
    from: edited?.stage ?? found.first,
    text: changed ? edited.text : null,
    target: target.peek() || found.target,
    options: Object.keys(options).length ? options : null,
    signature: null,
    constants: Object.keys(constants).length
      ? Object.entries(constants)
          .map(([name, value]) => `${name}=${value}`)
          .join(",")
      : null,
    kernel: null,
  });
}

export function DiscardButton() {
  return (
    <button
      type="button"
      onClick={() => {
        draft.value = null;
      }}
    >
      Discard edit
    </button>
  );
}

/** Keep what was typed. */
export function editDraft(text: string): void {
  const now = draft.peek();
  if (now) draft.value = { ...now, text };
}

export function EditBar(props: { stage: string; name: string; line: number; text: string }) {
  if (!can("compile")) return null;
  const now = draft.value;
  const begin = async (): Promise<void> => {
    const { stage, name, line } = props;
    const text = await wait<Text>(`api/text/${props.text}`);
    draft.value = { stage, name, line, text: text.text, original: text.text };
    optionsOpen.value = true;
    panel.value = props.stage === "source" ? "source" : "ir";
  };
  if (now?.stage === props.stage) return <DiscardButton />;
  return (
    <button
      type="button"
      onClick={() => void begin()}
      title={`Edit the ${props.stage === "source" ? "source" : `text of ${props.stage}`} and compile from there`}
    >
      Edit
    </button>
  );
}

export function StopButton() {
  const [asked, setAsked] = useState("");
  const job = jobs.value[lastJob.value];
  const running =
    Object.values(jobs.value).find((j) => j.state === "running") ?? (job?.state === "running" ? job : undefined);
  const script = currentSession.value?.run.state === "running";
  if (!running && !script) return null;
  const id = running?.id ?? "run";
  return (
    <button
      type="button"
      class="stop"
      disabled={asked === id && asked !== "run"}
      onClick={() => {
        setAsked(id);
        void act("api/stop", { job: running?.id ?? null });
      }}
    >
      Stop
    </button>
  );
}

export function CompileBar() {
  const found = currentDocument.value;
  if (!optionsOpen.value || !found) return null;
  const job = jobs.value[lastJob.value];
  const running = job?.kind === "compile" && job.state === "running";
  const targets = [...new Set([found.target, ...(currentSession.value?.targets ?? [])])];
  return (
    <section class="compile-bar" aria-label="Compile again">
      <Field label="from">
        <span class="tag mono">{draft.value?.stage ?? found.first}</span>
      </Field>
      <Field label="target">
        <select
          value={target.value || found.target}
          onChange={(e) => {
            target.value = e.currentTarget.value;
          }}
        >
          {targets.map((t) => (
            <option key={t}>{t}</option>
          ))}
        </select>
      </Field>
      <Field label="options">
        <input
          type="text"
          placeholder="num_warps=8 num_stages=3"
          value={optionText.value}
          onInput={(e) => {
            optionText.value = e.currentTarget.value;
          }}
        />
      </Field>
      <Field label="constants">
        <input
          type="text"
          placeholder={Object.entries(found.constants)
            .map(([n, v]) => `${n}=${v}`)
            .join(" ")}
          value={constantText.value}
          onInput={(e) => {
            constantText.value = e.currentTarget.value;
          }}
        />
      </Field>
      <button
        type="button"
        class="primary"
        disabled={running}
        onClick={() => void compileDraft()}
        title="Compile (Ctrl+Enter)"
      >
        {running ? "Compiling …" : "Compile"}
      </button>
      {job?.kind === "compile" && job.state === "done" && job.ms !== null ? (
        <span class="count">{Math.round(job.ms)} ms</span>
      ) : null}
      <button
        type="button"
        class="link"
        onClick={() => {
          optionsOpen.value = false;
        }}
      >
        close
      </button>
      {job?.kind === "compile" && job.state === "failed" ? (
        <pre class="job-error" role="alert" tabIndex={0}>
          {job.message}
        </pre>
      ) : null}
    </section>
  );
}
