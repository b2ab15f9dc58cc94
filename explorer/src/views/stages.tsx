// Source, passes, and the IR before and after a pass, linked by source line and value.
import { signal } from "@preact/signals";
import type { Check, Document, Finding, Pass, Performance, Rewrites, Stage, Text, ValuesRun } from "../contract.ts";
import { type Loaded, resource } from "../data.ts";
import { Code, Diff, type LineMarks } from "../editor.tsx";
import { base, ms } from "../format.ts";
import { List } from "../list.tsx";
import { CheckBox, Message, Pending, pointedLines, Segmented, valueAt, valueHint } from "../parts.tsx";
import {
  checkId,
  chosenValue,
  currentDocument,
  documentId,
  linesFrom,
  type Pick,
  panel,
  passAt,
  pick,
  place,
  placeOf,
  provenance,
  ready,
  reveal,
  rewriteIndex,
  selectPick,
  shownText,
  stageNamed,
  textOf,
  valuesRun,
} from "../state.ts";
import { Details, stepPath } from "./details.tsx";
import { DiscardButton, draft, EditBar, editDraft } from "./edit.tsx";

type Mode = "diff" | "split" | "after" | "before";
const mode = signal<Mode>("diff");
const collapse = signal(true);
const onlyChanged = signal(true);
const passFilter = signal("");

type Row =
  | { kind: "stage"; stage: Stage }
  | { kind: "pass"; stage: Stage; pass: Pass }
  | { kind: "listing"; name: string };

function rows(found: Document): Row[] {
  const made: Row[] = [];
  const wanted = passFilter.value.toLowerCase();
  for (const stage of found.stages) {
    made.push({ kind: "stage", stage });
    for (const pass of stage.passes) {
      if (onlyChanged.value && !pass.changed && !pass.error) continue;
      if (wanted && !pass.name.toLowerCase().includes(wanted)) continue;
      made.push({ kind: "pass", stage, pass });
    }
  }
  for (const one of found.listings) {
    if (!found.stages.some((s) => s.name === one.name)) made.push({ kind: "listing", name: one.name });
  }
  return made;
}

function pickOf(row: Row): Pick {
  if (row.kind === "listing") return { stage: row.name, pass: null };
  return { stage: row.stage.name, pass: row.kind === "pass" ? row.pass.index : null };
}

function operations(pass: Pass): string {
  const { operations: after, operations_before: before } = pass;
  if (after === null) return "";
  return before !== null && before !== after ? `${before} → ${after}` : String(after);
}

function rowName(row: Row): string {
  if (row.kind === "listing") return `listing ${row.name}`;
  if (row.kind === "stage") return `stage ${row.stage.name}`;
  const { pass } = row;
  return `pass ${pass.name}, ${pass.changed ? "changed" : "not changed"}, ${ms(pass.us)} ms, ${operations(pass)} operations`;
}

function PassRow(props: { row: Row }) {
  const { row } = props;
  if (row.kind === "listing") return <span class="stage-name">{row.name}</span>;
  if (row.kind === "stage") {
    return (
      <>
        <span class="stage-name">{row.stage.name}</span>
        <span class="num">{row.stage.passes.length ? `${row.stage.passes.length} passes` : ""}</span>
        <span class="num ms">{ms(row.stage.us)}</span>
      </>
    );
  }
  const { pass } = row;
  return (
    <>
      <span class={pass.error ? "dot failed" : pass.changed ? "dot changed" : "dot"} />
      <span class="name" title={pass.reason}>
        {pass.name}
      </span>
      <span class="num">{operations(pass)}</span>
      <span class="num ms">{pass.skipped ? "skip" : ms(pass.us)}</span>
    </>
  );
}

export function PassList() {
  const found = currentDocument.value;
  if (!found) return <p class="empty">No kernel is selected.</p>;
  const items = rows(found);
  const at = pick.value;
  const selected = items.findIndex((row) => {
    const one = pickOf(row);
    return one.stage === at.stage && one.pass === at.pass;
  });
  return (
    <section class="passes" aria-label="Passes">
      <div class="bar">
        <input
          type="search"
          placeholder="Filter passes"
          aria-label="Filter passes"
          value={passFilter.value}
          onInput={(e) => {
            passFilter.value = e.currentTarget.value;
          }}
        />
        <CheckBox of={onlyChanged}>changed only</CheckBox>
      </div>
      <div class="head" aria-hidden="true">
        <span class="name">pass</span>
        <span class="num">ops</span>
        <span class="num ms">ms</span>
      </div>
      <List
        label="Passes by stage"
        items={items}
        height={24}
        selected={selected}
        onSelect={(index) => {
          const row = items[index];
          if (row) selectPick(pickOf(row));
          panel.value = matchMedia("(max-width: 760px)").matches ? "ir" : panel.value;
        }}
        row={(row) => <PassRow row={row} />}
        name={rowName}
      />
    </section>
  );
}

/** The lines of a source file that lead to other texts, or that errors and findings are about. */
function sourceMarks(found: Document, file: string): LineMarks {
  const steps = provenance.value;
  const index = steps?.files.indexOf(file) ?? -1;
  const report = reportOf(found.state === "running" ? "" : found.id);
  return {
    "l-linked": steps ? [...new Set(steps.lines.filter((l) => l.file === index).map((l) => l.line))] : [],
    "l-here": place.value?.file === file ? [place.value.line] : [],
    "l-error": found.errors.flatMap((e) => (e.place?.file === file ? [e.place.line] : [])),
    "l-warn": (report?.findings ?? []).flatMap((one) => (one.place?.file === file ? [one.place.line] : [])),
  };
}

export function SourcePane() {
  const found = currentDocument.value;
  const file = found?.sources.find((s) => s.file === place.value?.file) ?? found?.sources[0];
  const edited = draft.value?.stage === "source" ? draft.value : null;
  const marks = found && file ? sourceMarks(found, file.file) : {};
  const pick = (line: number): void => {
    if (!file) return;
    chosenValue.value = null;
    place.value = { file: file.file, line, column: 0 };
  };
  const here = marks["l-here"]?.[0];
  const start = marks["l-error"]?.[0] ?? found?.place?.line ?? 1;
  // An edit stays in its editor, with its cursor, while the document that it was compiled to is loaded.
  if (edited) {
    return (
      <section class="pane" aria-label="Source">
        <header class="pane-head">
          <h2>{edited.name}</h2>
          {file?.changed ? <span class="tag warn">changed since the compile</span> : null}
          <DiscardButton />
        </header>
        <Code
          text={edited.text}
          language="python"
          label={`Source ${edited.name}`}
          editable={true}
          onChange={editDraft}
          marks={marks}
          reveal={{ line: here ?? edited.line, serial: here ?? 0 }}
          onPick={pick}
        />
      </section>
    );
  }
  if (!found || !file) {
    return <p class="empty">{found ? "The source of this kernel is not known: it began as text." : "No kernel."}</p>;
  }
  const name = base(file.file);
  return (
    <section class="pane" aria-label="Source">
      <header class="pane-head">
        <h2>{name}</h2>
        {file.changed ? <span class="tag warn">changed since the compile</span> : null}
        <EditBar stage="source" name={name} line={here ?? start} text={file.text} />
      </header>
      <Pending of={textOf(file.text)} what="source">
        {(text) => (
          <Code
            text={text.text}
            language="python"
            label={`Source ${name}`}
            marks={marks}
            reveal={{ line: here ?? start, serial: here ?? 0 }}
            onPick={pick}
          />
        )}
      </Pending>
    </section>
  );
}

function useRewrites(found: Document, at: Pick): Loaded<Rewrites> | null {
  const pass = passAt(found, at);
  if (!pass?.rewrites) return null;
  return resource<Rewrites>(`api/rewrites/${found.id}/${at.stage}/${at.pass}`).value;
}

function RewriteBar(props: { of: Rewrites; found: Document; at: Pick }) {
  const list = props.of.rewrites;
  const index = Math.min(rewriteIndex.value, list.length);
  const now = index > 0 ? list[index - 1] : null;
  const step = (to: number): void => {
    rewriteIndex.value = Math.max(0, Math.min(list.length, to));
    const one = list[rewriteIndex.value - 1];
    if (one?.place) place.value = { ...one.place };
  };
  return (
    <section class="rewrites" aria-label="Rewrites">
      <div class="bar">
        <button
          type="button"
          onClick={() => step(index - 1)}
          disabled={index === 0}
          aria-label="Previous rewrite"
          title="Previous rewrite (,)"
        >
          ◀
        </button>
        <button
          type="button"
          onClick={() => step(index + 1)}
          disabled={index >= list.length}
          aria-label="Next rewrite"
          title="Next rewrite (.)"
        >
          ▶
        </button>
        <input
          type="range"
          min={0}
          max={list.length}
          value={index}
          aria-label="Rewrite"
          onInput={(e) => step(Number(e.currentTarget.value))}
        />
        <span class="count" aria-live="polite">
          {index === 0 ? `${list.length} rewrites: the whole pass` : `rewrite ${index} of ${list.length}`}
        </span>
        {now ? (
          <button type="button" class="link" onClick={() => step(0)}>
            whole pass
          </button>
        ) : null}
      </div>
      {now ? (
        <div class="equation">
          <strong>{now.rule}</strong>
          {now.equation ? <code class="math">{now.equation}</code> : null}
          {now.before ? <code class="minus">- {now.before}</code> : null}
          {now.after ? (
            <code class="plus">+ {now.after}</code>
          ) : now.after === "" ? (
            <code class="plus">+ (erased)</code>
          ) : null}
        </div>
      ) : null}
    </section>
  );
}

function stepTexts(
  found: Document,
  at: Pick,
  rewrites: Rewrites | null,
): { before: string; after: string; steps: boolean } | null {
  const index = rewriteIndex.value;
  if (!rewrites || index === 0) return null;
  if (!rewrites.steppable) return null;
  const path = (n: number): string => `api/rewrite-step/${found.id}/${at.stage}/${at.pass}/${n}`;
  const a = ready(resource<{ text: string }>(path(index - 1)).value);
  const b = ready(resource<{ text: string }>(path(index)).value);
  return a && b ? { before: a.text, after: b.text, steps: true } : null;
}

function irEvents(text: Text) {
  return {
    onHover: (line: number, word: string) => findingHint(text, line) ?? valueHint(text, line, word),
    onPick: (line: number, word: string) => {
      const index = word ? valueAt(text, line, word) : -1;
      chosenValue.value = index >= 0 ? { text: text.id, index } : null;
      const value = text.values[index];
      const where = placeOf(text, value && !value.argument && value.line ? value.line : line) ?? placeOf(text, line);
      if (where) place.value = where;
    },
  };
}

function reportOf(id: string): Performance | null {
  return id ? ready(resource<Performance>(`api/performance/${id}`).value) : null;
}

/** Findings and the assembler's remarks that name lines of a text of machine code. */
function findingsIn(text: Text): Finding[] {
  if (!["ptx", "sass", "amdgcn", "asm"].includes(text.language)) return [];
  const report = reportOf(documentId.value);
  const all = [...(report?.findings ?? []), ...(report?.remarks ?? [])];
  return all.filter((one) => pointedLines(one, text.language).length);
}

function findingLines(text: Text): number[] {
  return findingsIn(text).flatMap((one) => pointedLines(one, text.language));
}

function findingHint(text: Text, line: number): HTMLElement | null {
  const found = findingsIn(text).filter((one) => one.lines[text.language]?.includes(line));
  if (!found.length) return null;
  const box = document.createElement("div");
  box.className = "hint";
  for (const one of found) {
    const row = box.appendChild(document.createElement("div"));
    row.appendChild(document.createElement("b")).textContent = one.kind;
    row.appendChild(document.createElement("span")).textContent = one.message;
  }
  return box;
}

const MAX_ALIKE = 3;

/** The instructions of PTX that a message names. */
function instructionsOf(message: string): string[] {
  return [...message.matchAll(/PTX line \d+: (.+)/g)].map((found) =>
    (found[1] ?? "").replace(/\s+/g, " ").replace(/;? ?$/, ""),
  );
}

function linesWith(text: Text, wanted: (line: string) => boolean): number[] {
  return text.text.split("\n").flatMap((line, index) => (wanted(line.trim().replace(/\s+/g, " ")) ? [index + 1] : []));
}

/** Lines of the operation in which the first difference of a check is, in the texts of its pass and of its rewrites. */
function findingLinesOf(text: Text): number[] {
  const check = checkId.value ? ready(resource<Check>(`api/check/${checkId.value}`).value) : null;
  const finding = check?.document === documentId.value ? check.finding : null;
  if (!finding || finding.stage !== pick.value.stage || finding.pass !== pick.value.pass) return [];
  const { texts, operation, rewrite } = finding;
  const instructions = instructionsOf(finding.message);
  if (text.language === "ptx") return linesWith(text, (line) => instructions.some((one) => line.startsWith(one)));
  if (finding.line_after && texts?.after === text.id) return [finding.line_after];
  if (finding.line_before && texts?.before === text.id) return [finding.line_before];
  const said = [operation?.after, rewrite?.operation, operation?.before].filter((one): one is string => Boolean(one));
  for (const one of said) {
    const same = linesWith(text, (line) => line === one);
    if (same.length) return same;
  }
  const [, result, name] = /^(?:(%[\w.$-]+)[^=]*= )?"?([\w.]+)/.exec(said[0] ?? "") ?? [];
  const alike = text.ops.filter((op) => op.name === name);
  const named = alike.filter((op) => op.results.some((index) => text.values[index]?.name === result));
  return (named.length ? named : alike).slice(0, MAX_ALIKE).map((op) => op.line);
}

/** Lines whose values are NaN, infinite or out of bounds in the program that was evaluated, and that of a difference. */
function wrongLines(text: Text): number[] {
  const lines: number[] = [];
  const run = valuesRun.value ? ready(resource<ValuesRun>(`api/values/${valuesRun.value}`).value) : null;
  if (run?.text === text.id) {
    for (const one of run.values) if (one.nan + one.inf + one.out_of_bounds) lines.push(one.line);
    for (const one of run.errors) if (one.line) lines.push(one.line);
  }
  lines.push(...findingLinesOf(text));
  return lines;
}

function irMarks(text: Text, rewrites: Rewrites | null): LineMarks {
  const marks: LineMarks = { "l-here": linesFrom(text.id, place.value, provenance.value) };
  const chosen = chosenValue.value;
  const value = chosen?.text === text.id ? text.values[chosen.index] : undefined;
  if (value) {
    marks["l-use"] = value.uses;
    marks["l-def"] = [value.line];
  }
  const noted = text.ops.filter((op) => op.note && text.language === "ptx").map((op) => op.line);
  const warned = [...noted, ...findingLines(text)];
  if (warned.length) marks["l-warn"] = warned;
  const wrong = wrongLines(text);
  if (wrong.length) marks["l-bad-value"] = wrong;
  const one = rewrites && rewriteIndex.value > 0 ? rewrites.rewrites[rewriteIndex.value - 1] : null;
  if (one?.line_after && rewrites?.after === text.id) marks["l-rewrite"] = [one.line_after];
  return marks;
}

function IrText(props: { before: string | null; after: string; rewrites: Rewrites | null; label: string }) {
  const now = mode.value;
  const diff = (now === "diff" || now === "split") && props.before !== null && props.before !== props.after;
  const loaded = textOf(now === "before" && props.before ? props.before : props.after);
  const old = diff ? textOf(props.before) : null;
  if (old?.state === "loading") return <p class="empty">Loading IR …</p>;
  return (
    <Pending of={loaded} what="text">
      {(text) => {
        const asked = reveal.value?.text === text.id ? reveal.value : null;
        const marks = irMarks(text, props.rewrites);
        const first = marks["l-here"]?.[0] ?? (marks["l-bad-value"]?.[0] || undefined);
        const target = asked ?? (first ? { line: first, serial: first + (place.value?.line ?? 0) * 1000 } : null);
        const shared = {
          text: text.text,
          language: text.language,
          label: props.label,
          marks,
          reveal: target,
          ...irEvents(text),
        };
        if (old?.state === "ready" && old.data.language === text.language) {
          return (
            <Diff {...shared} before={old.data.text} split={now === "split"} collapse={collapse.value && !target} />
          );
        }
        return <Code {...shared} />;
      }}
    </Pending>
  );
}

const MODES: [Mode, string][] = [
  ["diff", "Diff"],
  ["split", "Side by side"],
  ["before", "Before"],
  ["after", "After"],
];

function Modes() {
  return (
    <>
      <Segmented
        label="How the text is shown"
        options={MODES}
        value={mode.value}
        onChoose={(one) => {
          mode.value = one;
        }}
      />
      <CheckBox of={collapse}>fold</CheckBox>
    </>
  );
}

function IrHead(props: { found: Document; at: Pick; pass: Pass | null }) {
  const { at, pass, found } = props;
  const stage = stageNamed(found, at.stage);
  return (
    <header class="pane-head">
      <h2>{pass ? `${at.stage} / ${pass.name}` : at.stage}</h2>
      {pass?.options ? <span class="tag mono">{pass.options}</span> : null}
      <span class="grow" />
      {pass?.changed ? <Modes /> : null}
      {stage?.editable && at.stage !== "source" && !pass && stage.after ? (
        <EditBar stage={at.stage} name={at.stage} line={1} text={stage.after} />
      ) : null}
    </header>
  );
}

function Counts(props: { pass: Pass }) {
  const { pass } = props;
  const counts = Object.entries(pass.counts);
  if (!pass.reason && pass.changed && !counts.length) return null;
  return (
    <p class="reason">
      {pass.reason}
      {pass.changed ? "" : pass.skipped ? " Skipped: nothing to do." : " Changed nothing."}
      {counts.map(([name, count]) => (
        <span class="tag" key={name}>
          {count} {name}
        </span>
      ))}
    </p>
  );
}

export function IrPane() {
  const found = currentDocument.value;
  if (!found) return <p class="empty">No kernel is selected.</p>;
  const at = pick.value;
  const pass = passAt(found, at);
  const stage = stageNamed(found, at.stage);
  const errors = found.errors.filter((e) => e.stage === at.stage || !at.stage);
  const loaded = useRewrites(found, at);
  const rewrites = loaded ? ready(loaded) : null;
  const steps = stepTexts(found, at, rewrites);
  const listing = found.listings.find((l) => l.name === at.stage);
  const after = steps?.after ?? shownText.value;
  const before = steps?.before ?? (pass ? pass.before : null);
  const edited = draft.value && draft.value.stage === at.stage && at.stage !== "source" && !pass;
  return (
    <section class="pane" aria-label="IR">
      <IrHead found={found} at={at} pass={pass} />
      {pass ? <Counts pass={pass} /> : null}
      {rewrites?.rewrites.length ? <RewriteBar of={rewrites} found={found} at={at} /> : null}
      {errors.map((e, index) => (
        <Message key={index} level="bad" title={`${e.type} in ${e.pass ?? e.stage}`} text={e.message} />
      ))}
      {listing && !listing.available ? (
        <Message level="note" title={`No ${listing.name}`} text={listing.reason} />
      ) : stage?.bytes !== null && stage?.bytes !== undefined && !pass ? (
        <Message
          level="note"
          title={`${stage.name}: ${stage.bytes} bytes of machine code`}
          text="Its instructions are in the listing below the stages."
        />
      ) : edited && draft.value ? (
        <Code
          text={draft.value.text}
          language={stage?.language ?? "mlir"}
          label={`Edit ${at.stage}`}
          editable={true}
          onChange={editDraft}
        />
      ) : after ? (
        <IrText
          before={before}
          after={after}
          rewrites={rewrites}
          label={`IR of ${at.stage}${pass ? `, ${pass.name}` : ""}`}
        />
      ) : errors.length ? null : (
        <p class="empty">This step has no text.</p>
      )}
    </section>
  );
}

export function StagesView() {
  return (
    <div class="stages" data-panel={panel.value}>
      <SourcePane />
      <IrPane />
      <Details />
    </div>
  );
}

/** Move in the list of passes, or of rewrites, or along the path of the selected place. */
export function stagesKey(key: string): boolean {
  const found = currentDocument.value;
  if (!found || !documentId.value) return false;
  if (key === "[" || key === "]") {
    const items = rows(found);
    const at = items.findIndex((r) => pickOf(r).stage === pick.value.stage && pickOf(r).pass === pick.value.pass);
    const next = items[Math.max(0, Math.min(items.length - 1, at + (key === "]" ? 1 : -1)))];
    if (next) selectPick(pickOf(next));
    return true;
  }
  if (key === "," || key === ".") {
    const pass = passAt(found, pick.value);
    if (!pass) return false;
    rewriteIndex.value = Math.max(0, Math.min(pass.rewrites, rewriteIndex.value + (key === "." ? 1 : -1)));
    return true;
  }
  if (key === "<" || key === ">") return stepPath(key === ">" ? 1 : -1);
  return false;
}
