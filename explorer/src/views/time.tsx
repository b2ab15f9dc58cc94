// Compile time as a flame graph, the longest steps, and the cache's answer.
import { useEffect, useRef, useState } from "preact/hooks";
import { color } from "../chart.tsx";
import type { Span } from "../contract.ts";
import { ms } from "../format.ts";
import { List } from "../list.tsx";
import { Message } from "../parts.tsx";
import { currentDocument, selectPick, theme, view } from "../state.ts";

const ROW = 22;
const CACHE: Record<string, string> = {
  hit: "Read from the cache",
  miss: "Compiled: not in the cache",
  off: "Compiled: the cache is off",
  unknown: "Whether the cache had it is not known",
};

function open(span: Span): void {
  if (!span.stage) return;
  selectPick({ stage: span.stage, pass: span.pass });
  view.value = "stages";
}

function Flames(props: { spans: Span[] }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [at, setAt] = useState<Span | null>(null);
  const now = theme.value;
  const { spans } = props;
  const from = Math.min(...spans.map((s) => s.at));
  const to = Math.max(...spans.map((s) => s.at + s.us));
  const rows = Math.max(...spans.map((s) => s.depth)) + 1;
  useEffect(() => {
    const board = canvas.current as HTMLCanvasElement;
    const draw = (): void => {
      const width = board.parentElement?.clientWidth ?? 800;
      board.width = width * devicePixelRatio;
      board.height = rows * ROW * devicePixelRatio;
      board.style.width = `${width}px`;
      board.style.height = `${rows * ROW}px`;
      const pen = board.getContext("2d") as CanvasRenderingContext2D;
      pen.scale(devicePixelRatio, devicePixelRatio);
      pen.font = "11px system-ui";
      pen.textBaseline = "middle";
      const scale = width / Math.max(1, to - from);
      for (const span of spans) {
        const x = (span.at - from) * scale;
        const w = Math.max(1, span.us * scale - 1);
        pen.fillStyle = color(span.kind === "stage" ? "--accent-bg" : span.kind === "pass" ? "--good-bg" : "--bg3");
        pen.fillRect(x, span.depth * ROW, w, ROW - 1);
        if (w < 34) continue;
        pen.save();
        pen.beginPath();
        pen.rect(x, span.depth * ROW, w - 4, ROW);
        pen.clip();
        pen.fillStyle = color("--fg");
        pen.fillText(`${span.name} ${ms(span.us)} ms`, x + 5, span.depth * ROW + ROW / 2);
        pen.restore();
      }
    };
    draw();
    const observer = new ResizeObserver(draw);
    observer.observe(board.parentElement as HTMLElement);
    return () => observer.disconnect();
  }, [spans, now]);
  const find = (event: MouseEvent): Span | null => {
    const box = (canvas.current as HTMLCanvasElement).getBoundingClientRect();
    const depth = Math.floor((event.clientY - box.top) / ROW);
    const time = from + ((event.clientX - box.left) / box.width) * (to - from);
    return spans.find((s) => s.depth === depth && s.at <= time && time <= s.at + s.us) ?? null;
  };
  return (
    <div>
      <canvas
        ref={canvas}
        role="img"
        aria-label="Compile time as a flame graph; the list below has the same steps"
        onMouseMove={(e) => setAt(find(e))}
        onClick={(e) => {
          const span = find(e);
          if (span) open(span);
        }}
      />
      <p class="readout">{at ? `${at.kind} ${at.name}: ${ms(at.us)} ms` : " "}</p>
    </div>
  );
}

export function TimeView() {
  const found = currentDocument.value;
  const [selected, setSelected] = useState(-1);
  if (!found) return <p class="empty">No kernel is selected.</p>;
  const longest = [...found.spans].sort((a, b) => b.us - a.us);
  return (
    <div class="view">
      <Message
        level={found.cache.state === "hit" ? "good" : "note"}
        title={CACHE[found.cache.state] ?? `Cache: ${found.cache.state}`}
        text={found.cache.reason}
      />
      {found.spans.length ? <Flames spans={found.spans} /> : <p class="tip">No times were recorded.</p>}
      <h3>Longest steps (ms)</h3>
      <div class="tall">
        <List
          label="Longest steps"
          items={longest}
          height={24}
          selected={selected}
          onSelect={(index) => {
            setSelected(index);
            const span = longest[index];
            if (span) open(span);
          }}
          row={(span) => (
            <>
              <span class="name">{span.name}</span>
              <span class="share" aria-hidden="true">
                <i style={{ width: `${(100 * span.us) / (longest[0]?.us || 1)}%` }} />
              </span>
              <span class="tag">{span.kind}</span>
              <span class="num ms">{ms(span.us)}</span>
            </>
          )}
          name={(span) => `${span.kind} ${span.name}, ${ms(span.us)} ms`}
        />
      </div>
    </div>
  );
}
