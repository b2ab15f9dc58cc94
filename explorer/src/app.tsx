// The frame of the page: kernels, views, problems, and what the script printed.
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { DocumentSummary } from "./contract.ts";
import { serverLost } from "./data.ts";
import { ms } from "./format.ts";
import { List } from "./list.tsx";
import { Expander, Message, PlaceLink } from "./parts.tsx";
import {
  act,
  can,
  currentDocument,
  currentSession,
  documentId,
  notices,
  openDocument,
  type Panel,
  panel,
  runOutput,
  session,
  theme,
  VIEWS,
  type View,
  view,
} from "./state.ts";
import { CompareView } from "./views/compare.tsx";
import { CompileBar, compileDraft, draft, optionsOpen, StopButton } from "./views/edit.tsx";
import { LayoutsView } from "./views/layouts/view.tsx";
import { PerformanceView } from "./views/performance/view.tsx";
import { PassList, StagesView, stagesKey } from "./views/stages.tsx";
import { TimeView } from "./views/time.tsx";
import { TuningView } from "./views/tuning.tsx";
import { ValuesView } from "./views/values/view.tsx";

const outputOpen = signal(false);
const helpOpen = signal(false);
const kernelFilter = signal("");

function KernelRow(props: { item: DocumentSummary }) {
  const { item } = props;
  return (
    <>
      <span class={item.state === "failed" ? "dot failed" : item.state === "running" ? "dot running" : "dot good"} />
      <span class="name">
        {item.parent ? "↳ " : ""}
        {item.kernel || "(passes)"}
      </span>
      <span class="tag mono">{item.target}</span>
      <span class="num ms">{ms(item.us)}</span>
    </>
  );
}

function KernelList() {
  const now = currentSession.value;
  const wanted = kernelFilter.value.toLowerCase();
  const items = (now?.documents ?? []).filter((d) => `${d.label} ${d.summary}`.toLowerCase().includes(wanted));
  const selected = items.findIndex((d) => d.id === documentId.value);
  const visible = Math.min(Math.max(items.length, 2), 8) * 24 + 2;
  return (
    <section class="kernels" aria-label="Kernels">
      <div class="bar">
        <input
          type="search"
          placeholder={`Filter ${now?.documents.length ?? 0} kernels`}
          aria-label="Filter kernels"
          value={kernelFilter.value}
          onInput={(e) => {
            kernelFilter.value = e.currentTarget.value;
          }}
        />
      </div>
      <div style={{ height: `${visible}px` }}>
        <List
          label="Kernels"
          items={items}
          height={24}
          selected={selected}
          onSelect={(index) => {
            const one = items[index];
            if (one) void openDocument(one.id);
          }}
          row={(item) => <KernelRow item={item} />}
          name={(d) => `${d.label}, ${d.state}, ${d.summary}`}
        />
      </div>
    </section>
  );
}

function Tabs() {
  const move = (by: number): void => {
    const at = VIEWS.findIndex(([name]) => name === view.value);
    const next = VIEWS[(at + by + VIEWS.length) % VIEWS.length];
    if (next) {
      view.value = next[0];
      document.getElementById(`tab-${next[0]}`)?.focus();
    }
  };
  return (
    <div
      class="tabs"
      role="tablist"
      aria-label="Views"
      tabIndex={-1}
      onKeyDown={(e) => {
        if (e.key === "ArrowRight") move(1);
        if (e.key === "ArrowLeft") move(-1);
      }}
    >
      {VIEWS.map(([name, label]) => (
        <button
          type="button"
          role="tab"
          id={`tab-${name}`}
          key={name}
          aria-selected={view.value === name}
          aria-controls="main"
          tabIndex={view.value === name ? 0 : -1}
          onClick={() => {
            view.value = name;
          }}
        >
          {label}
        </button>
      ))}
    </div>
  );
}

function TopBar() {
  const now = currentSession.value;
  const found = currentDocument.value;
  return (
    <header class="top">
      <h1>
        Tritium <span class="title">{now?.title ?? ""}</span>
      </h1>
      <Tabs />
      <span class="grow" />
      {found?.cache.state && found.cache.state !== "unknown" ? (
        <span class={`tag cache-${found.cache.state}`} title={found.cache.reason}>
          cache {found.cache.state}
        </span>
      ) : null}
      <StopButton />
      {can("compile") && found ? <Expander of={optionsOpen}>Options</Expander> : null}
      {now && !now.exported && now.input.kind === "script" ? (
        <button type="button" onClick={() => void act("api/run", {})} disabled={now.run.state === "running"}>
          {now.run.state === "running" ? "Running …" : "Run again"}
        </button>
      ) : null}
      <Expander of={outputOpen}>Output</Expander>
      <button
        type="button"
        aria-label={theme.value === "dark" ? "Light theme" : "Dark theme"}
        title={theme.value === "dark" ? "Light theme" : "Dark theme"}
        onClick={() => {
          theme.value = theme.value === "dark" ? "light" : "dark";
        }}
      >
        {theme.value === "dark" ? "☀" : "☾"}
      </button>
      <button
        type="button"
        aria-label="Keys"
        title="Keys (?)"
        onClick={() => {
          helpOpen.value = !helpOpen.value;
        }}
      >
        ?
      </button>
    </header>
  );
}

const hidden = signal<string[]>([]);

function Problems() {
  const now = currentSession.value;
  const problems = (now?.problems ?? []).filter((p) => !hidden.value.includes(p.message));
  const run = now?.run;
  return (
    <div class="problems">
      {serverLost.value ? (
        <Message
          level="bad"
          title="The server does not answer"
          text="What was loaded stays readable. Start `tritium explore` again and reload this page from the new address."
        />
      ) : null}
      {run && run.state === "failed" && run.message ? (
        <Message level="bad" title="The script failed" text={run.message} />
      ) : null}
      {run && run.state === "stopped" ? (
        <Message level="note" title="The script was stopped" text={run.message} />
      ) : null}
      {problems.slice(0, 5).map((p) => (
        <div class="problem" key={p.message}>
          <Message level={p.severity === "error" ? "bad" : "note"} title={p.message} text={p.detail} />
          <PlaceLink place={p.place} />
          <button
            type="button"
            class="link"
            onClick={() => {
              hidden.value = [...hidden.value, p.message];
            }}
          >
            hide
          </button>
        </div>
      ))}
      {notices.value.map((text) => (
        <div class="problem" key={text}>
          <Message level="note" title={text} />
          <button
            type="button"
            class="link"
            onClick={() => {
              notices.value = notices.value.filter((n) => n !== text);
            }}
          >
            hide
          </button>
        </div>
      ))}
    </div>
  );
}

const KEYS: [string, string][] = [
  ["1 … 7", "choose a view"],
  ["[  ]", "previous, next pass"],
  [",  .", "previous, next rewrite"],
  ["<  >", "previous, next step of the selected line"],
  ["Enter", "in a text: select the line or value at the cursor"],
  ["Ctrl+Enter", "compile what was edited"],
  ["Ctrl+F", "search in a text"],
  ["Esc", "clear the selection"],
  ["?", "these keys"],
];

function Help() {
  if (!helpOpen.value) return null;
  return (
    <div class="help" role="dialog" aria-label="Keys">
      <h2>Keys</h2>
      <dl>
        {KEYS.map(([key, what]) => (
          <div key={key}>
            <dt>{key}</dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <button
        type="button"
        onClick={() => {
          helpOpen.value = false;
        }}
      >
        Close
      </button>
    </div>
  );
}

function Main() {
  const shown: Record<View, () => preact.JSX.Element | null> = {
    stages: () => <StagesView />,
    values: () => <ValuesView />,
    layouts: () => <LayoutsView />,
    performance: () => <PerformanceView />,
    time: () => <TimeView />,
    tuning: () => <TuningView />,
    compare: () => <CompareView />,
  };
  const now = session.value;
  if (now.state === "loading") return <p class="empty">Loading …</p>;
  if (now.state === "error") return <Message level="bad" title="The session cannot be read" text={now.message} />;
  if (!now.data.documents.length) {
    return <Empty running={now.data.run.state === "running"} />;
  }
  return shown[view.value]();
}

async function openFile(file: File | undefined): Promise<void> {
  if (file && can("compile")) await act("api/open", { text: await file.text(), name: file.name });
}

function Empty(props: { running: boolean }) {
  if (props.running) return <p class="empty">The script runs; kernels appear here as they are compiled.</p>;
  if (!can("compile")) return <p class="empty">No kernel was compiled.</p>;
  return (
    <div class="drop">
      <strong>No kernel was compiled.</strong>
      <span>Open a trace (.jsonl), or the text of a stage (.ttir, .ttgir, .llir, .ptx); or drop it on this page.</span>
      <input
        type="file"
        aria-label="Open a trace or the text of a stage"
        onChange={(e) => void openFile(e.currentTarget.files?.[0])}
      />
    </div>
  );
}

const dropping = signal(false);

function listenToDrops(): () => void {
  const over = (event: DragEvent): void => {
    if (!event.dataTransfer?.types.includes("Files") || !can("compile")) return;
    event.preventDefault();
    dropping.value = true;
  };
  const leave = (event: DragEvent): void => {
    if (!event.relatedTarget) dropping.value = false;
  };
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    dropping.value = false;
    void openFile(event.dataTransfer?.files[0]);
  };
  addEventListener("dragover", over);
  addEventListener("dragleave", leave);
  addEventListener("drop", drop);
  return () => {
    removeEventListener("dragover", over);
    removeEventListener("dragleave", leave);
    removeEventListener("drop", drop);
  };
}

function onKey(event: KeyboardEvent): void {
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
    if (draft.peek() || optionsOpen.peek()) {
      event.preventDefault();
      void compileDraft();
    }
    return;
  }
  const at = event.target as HTMLElement;
  const typing = at.closest("input:not([type=checkbox]):not([type=range]), textarea, select, [contenteditable=true]");
  const editing = typing && !(at.closest(".cm-content")?.getAttribute("aria-readonly") === "true");
  if (editing || event.ctrlKey || event.metaKey || event.altKey) return;
  const number = Number(event.key);
  const chosen = VIEWS[number - 1];
  if (chosen) view.value = chosen[0];
  else if (event.key === "?") helpOpen.value = !helpOpen.value;
  else if (event.key === "Escape") helpOpen.value = false;
  else if (!(view.value === "stages" && stagesKey(event.key))) return;
  event.preventDefault();
}

const PANELS: [Panel, string][] = [
  ["list", "Passes"],
  ["source", "Source"],
  ["ir", "IR"],
  ["details", "Details"],
];

export function App() {
  useEffect(() => {
    addEventListener("keydown", onKey);
    const end = listenToDrops();
    return () => {
      removeEventListener("keydown", onKey);
      end();
    };
  }, []);
  const stages = view.value === "stages";
  return (
    <div class={dropping.value ? "app dropping" : "app"} data-view={view.value} data-panel={panel.value}>
      <TopBar />
      <Problems />
      <CompileBar />
      <div class="body">
        <nav class="side" aria-label="Kernels and passes">
          <KernelList />
          <PassList />
        </nav>
        <main id="main" aria-labelledby={`tab-${view.value}`}>
          <Main />
        </main>
      </div>
      {outputOpen.value ? (
        <section class="output" aria-label="Output of the script">
          <pre tabIndex={0}>{runOutput.value || "The script printed nothing."}</pre>
        </section>
      ) : null}
      <div class="panels" role="group" aria-label="Panels">
        {PANELS.map(([name, label]) => (
          <button
            type="button"
            key={name}
            aria-pressed={stages ? panel.value === name : name === "list" && panel.value === "list"}
            onClick={() => {
              panel.value = name;
              if (name !== "list") view.value = "stages";
            }}
          >
            {label}
          </button>
        ))}
      </div>
      <Help />
    </div>
  );
}
