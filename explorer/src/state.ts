// What the page shows: the document, the view, the selected pass, place and value.
import { batch, computed, effect, signal } from "@preact/signals";
import type { Document, Job, Pass, Place, Provenance, Session, Stage, Text } from "./contract.ts";
import { AnswerError, type Loaded, refresh, renew, resource, serverLost, source } from "./data.ts";

export type View = "stages" | "values" | "layouts" | "performance" | "time" | "tuning" | "compare";
export const VIEWS: [View, string][] = [
  ["stages", "Stages"],
  ["values", "Values"],
  ["layouts", "Layouts"],
  ["performance", "Performance"],
  ["time", "Compile time"],
  ["tuning", "Autotuning"],
  ["compare", "Compare"],
];
export type Panel = "list" | "source" | "ir" | "details";

/** A stage's text (`pass` null), a pass, or a listing. */
export interface Pick {
  stage: string;
  pass: number | null;
}

export const session = resource<Session>("api/session");
export const documentId = signal<string>("");
export const view = signal<View>("stages");
export const pick = signal<Pick>({ stage: "", pass: null });
export const place = signal<Place | null>(null);
/** The value that was clicked, by index into `values` of a text. */
export const chosenValue = signal<{ text: string; index: number } | null>(null);
/** The line that an action asks an editor to show. */
export const reveal = signal<{ text: string; line: number; serial: number } | null>(null);
export const panel = signal<Panel>("ir");
export const jobs = signal<Record<string, Job>>({});
export const lastJob = signal<string>("");
export const runOutput = signal("");
export const notices = signal<string[]>([]);
export const checkId = signal("");
export const valuesRun = signal("");
export const compareWith = signal("");
export const rewriteIndex = signal(0);
export type Theme = "light" | "dark";
export const theme = signal<Theme>(startTheme());

function startTheme(): Theme {
  let kept: string | null = null;
  try {
    kept = localStorage.getItem("tritium-theme");
  } catch {
    // storage is not available to a file opened from disk in some browsers
  }
  if (kept === "light" || kept === "dark") return kept;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

effect(() => {
  document.documentElement.dataset.theme = theme.value;
  try {
    localStorage.setItem("tritium-theme", theme.value);
  } catch {
    // not kept then
  }
});

export const currentSession = computed<Session | null>(() => ready(session.value));
export const currentDocument = computed<Document | null>(() =>
  documentId.value ? ready(resource<Document>(`api/document/${documentId.value}`).value) : null,
);
export const provenance = computed<Provenance | null>(() =>
  documentId.value ? ready(resource<Provenance>(`api/provenance/${documentId.value}`).value) : null,
);

export function ready<T>(loaded: Loaded<T>): T | null {
  return loaded.state === "ready" ? loaded.data : null;
}

export function textOf(id: string | null | undefined): Loaded<Text> {
  if (!id) return { state: "error", message: "This step has no text." };
  return resource<Text>(`api/text/${id}`).value;
}

export function can(name: string): boolean {
  return currentSession.value?.capabilities[name] === true;
}

export function stageNamed(found: Document | null, name: string): Stage | null {
  return found?.stages.find((s) => s.name === name) ?? null;
}

export function passAt(found: Document | null, at: Pick): Pass | null {
  return at.pass === null ? null : (stageNamed(found, at.stage)?.passes.find((p) => p.index === at.pass) ?? null);
}

/** The text that a pick shows; for a pass the IR after it. */
export const shownText = computed<string | null>(() => {
  const found = currentDocument.value;
  const at = pick.value;
  const pass = passAt(found, at);
  if (pass) return pass.after ?? pass.before;
  const listing = found?.listings.find((l) => l.name === at.stage);
  return listing ? listing.text : (stageNamed(found, at.stage)?.after ?? null);
});

/** Lines of a text that come from the selected place. */
export function linesFrom(textId: string, where: Place | null, found: Provenance | null): number[] {
  if (!where || !found) return [];
  const step = found.steps.findIndex((s) => s.text === textId);
  return step < 0 ? [] : linesAtStep(step, where, found);
}

export function linesAtStep(step: number, where: Place, found: Provenance): number[] {
  const file = found.files.indexOf(where.file);
  const exact: number[] = [];
  const around: number[] = [];
  for (const one of found.lines) {
    if (one.file !== file || one.line !== where.line) continue;
    const at = one.at[step] ?? [];
    around.push(...at);
    if (one.column === where.column) exact.push(...at);
  }
  return [...new Set(where.column > 0 && exact.length ? exact : around)].sort((a, b) => a - b);
}

/** The place in the source of a line of a text. */
export function placeOf(text: Text, line: number): Place | null {
  const found = text.ops.find((op) => op.line === line && op.place);
  if (found?.place) {
    const [file, at, column] = found.place;
    return { file: text.files[file] ?? "", line: at, column };
  }
  const steps = provenance.value;
  const step = steps ? steps.steps.findIndex((s) => s.text === text.id) : -1;
  if (!steps || step < 0) return null;
  const one = steps.lines.find((l) => l.at[step]?.includes(line));
  return one ? { file: steps.files[one.file] ?? "", line: one.line, column: one.column } : null;
}

let serial = 0;
export function show(text: string, line: number): void {
  serial += 1;
  reveal.value = { text, line, serial };
}

/** Select a document; the first pass that changed something is shown. */
export async function openDocument(id: string): Promise<void> {
  batch(() => {
    documentId.value = id;
    place.value = null;
    chosenValue.value = null;
    rewriteIndex.value = 0;
    pick.value = { stage: "", pass: null };
  });
}

// Choose what to show once a document has arrived, or changed its stages.
effect(() => {
  const found = currentDocument.value;
  if (!found) return;
  const at = pick.peek();
  const isThere = stageNamed(found, at.stage) || found.listings.some((l) => l.name === at.stage);
  if (at.stage && isThere) return;
  const failed = found.errors[0];
  const readable = found.stages.filter((s) => s.bytes === null);
  const stage = (failed && stageNamed(found, failed.stage)) || readable.find((s) => s.name === "ttgir") || readable[0];
  if (stage)
    pick.value = {
      stage: stage.name,
      pass:
        stage.passes.find((p) => p.changed && p.rewrites)?.index ?? stage.passes.find((p) => p.changed)?.index ?? null,
    };
});

export function selectPick(next: Pick): void {
  batch(() => {
    pick.value = next;
    rewriteIndex.value = 0;
  });
}

/** Show a step in the view of stages. */
export function openPick(next: Pick): void {
  selectPick(next);
  view.value = "stages";
  panel.value = "ir";
}

/** Send an action; an error becomes a notice. */
export async function act(path: string, body: unknown): Promise<string> {
  try {
    const answer = (await source.post(path, body)) as { job?: string };
    const id = answer.job ?? "";
    if (id) {
      batch(() => {
        lastJob.value = id;
        jobs.value = {
          [id]: {
            id,
            kind: path.slice(4),
            state: "running",
            message: "",
            document: null,
            result: null,
            ms: null,
            place: null,
          },
          ...jobs.value,
        };
      });
    }
    return id;
  } catch (error) {
    notice(error instanceof AnswerError || error instanceof Error ? error.message : String(error));
    return "";
  }
}

export function notice(message: string): void {
  notices.value = [...notices.value.filter((n) => n !== message), message].slice(-4);
}

function finished(job: Job): void {
  // The machine code is kept when the job ends, after the last event of its document.
  if (job.document) renew(`api/performance/${job.document}`, job.document === documentId.peek());
  const opens = job.kind === "compile" || job.kind === "open";
  if (opens && job.state === "done" && job.document) {
    void openDocument(job.document);
    void refresh("api/session");
  }
  if (job.kind === "check" && job.result) checkId.value = job.result;
  if (job.kind === "values" && job.result) valuesRun.value = job.result;
}

interface Event {
  type: string;
  id?: string;
  state?: string;
  output?: string;
  message?: string;
}

function onEvent(event: Event): void {
  switch (event.type) {
    case "job": {
      const job = event as unknown as Job;
      jobs.value = { ...jobs.value, [job.id]: job };
      if (job.state !== "running") finished(job);
      break;
    }
    case "document":
      for (const kind of ["performance", "layouts"]) renew(`api/${kind}/${event.id}`, event.id === documentId.peek());
      renew("api/compare/", view.peek() === "compare");
      void refresh("api/session");
      void refresh(`api/document/${event.id}`);
      void refresh(`api/provenance/${event.id}`);
      break;
    case "run":
      if (event.output) runOutput.value = (runOutput.value + event.output).slice(-20000);
      void refresh("api/session");
      break;
    case "tuning":
      void refresh("api/session");
      void refresh(`api/tuning/${event.id}`);
      break;
    case "check":
      void refresh(`api/check/${event.id}`);
      break;
    case "problem":
      notice(event.message ?? "");
      void refresh("api/session");
      break;
    case "closing":
      serverLost.value = true;
      break;
  }
}

/** Follow the server's events; without one (an exported file) nothing happens. */
export function follow(): void {
  if (source.exported) return;
  const stop = session.subscribe((now) => {
    if (now.state !== "ready") return;
    runOutput.value = now.data.run.output;
    const stream = new EventSource(`api/events?since=${now.data.sequence}`);
    stream.onmessage = (message) => onEvent(JSON.parse(message.data) as Event);
    stream.onerror = () => {
      serverLost.value = true;
    };
    stream.onopen = () => {
      if (serverLost.value) void refresh("api/session");
      serverLost.value = false;
    };
    queueMicrotask(() => stop());
  });
}

// The address keeps what is shown, for a reload and for a second tab.
export function readAddress(): void {
  const [id, shown, stage, pass] = decodeURIComponent(location.hash.slice(1)).split("/");
  batch(() => {
    if (id) documentId.value = id;
    if (VIEWS.some(([name]) => name === shown)) view.value = shown as View;
    if (stage) pick.value = { stage, pass: pass ? Number(pass) : null };
  });
}

effect(() => {
  const now = currentSession.value;
  if (!now) return;
  const first = now.documents[0];
  const id = documentId.value;
  if (!first || now.documents.some((d) => d.id === id)) return;
  // A document of a job may be newer than this answer: only one that the server does not know is given up.
  if (!id || resource<Document>(`api/document/${id}`).value.state === "error") void openDocument(first.id);
});

effect(() => {
  if (!documentId.value) return;
  const { stage, pass } = pick.value;
  const parts = [documentId.value, view.value, stage, pass ?? ""].join("/").replace(/\/+$/, "");
  history.replaceState(null, "", `#${parts}`);
});
