// A conversion between two layouts as movement: each element goes from its thread and register to the new ones.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { color } from "../../chart.tsx";
import type { Conversion, Layout } from "../../contract.ts";
import { hue, indexText } from "../../grid.tsx";
import { Message } from "../../parts.tsx";
import { theme } from "../../state.ts";
import { element } from "./shown.ts";

const HEIGHT = 520;
const LEFT = 46;
const TOP = 18;
const MILLISECONDS = 1400;

/** Thread (over warps and CTAs) and register of a holder. */
function seat(of: Layout, holder: number[]): [number, number] {
  const at = (name: string): number => holder[of.axes.indexOf(name)] ?? 0;
  const size = (name: string): number => of.sizes[of.axes.indexOf(name)] ?? 1;
  return [(at("block") * size("warp") + at("warp")) * size("lane") + at("lane"), at("register")];
}

function seatText(of: Layout, holder: number[] | undefined): string {
  return of.axes.map((name, index) => `${name} ${holder?.[index] ?? 0}`).join(", ");
}

interface Paths {
  from: Float32Array;
  to: Float32Array;
  element: Int32Array;
  threads: number;
  registers: number;
}

function pathsOf(of: Conversion): Paths {
  const from: number[] = [];
  const to: number[] = [];
  const elements: number[] = [];
  const size = (l: Layout, name: string): number => l.sizes[l.axes.indexOf(name)] ?? 1;
  of.result.places.forEach((holders, index) => {
    const origin = of.source.places[index]?.[0];
    if (!origin) return;
    for (const holder of holders) {
      from.push(...seat(of.source, origin));
      to.push(...seat(of.result, holder));
      elements.push(index);
    }
  });
  const threads = Math.max(...[of.source, of.result].map((l) => size(l, "lane") * size(l, "warp") * size(l, "block")));
  const registers = Math.max(size(of.source, "register"), size(of.result, "register"));
  return {
    from: Float32Array.from(from),
    to: Float32Array.from(to),
    element: Int32Array.from(elements),
    threads,
    registers,
  };
}

function draw(board: HTMLCanvasElement, paths: Paths, at: number, chosen: number, lanes: number): void {
  const width = board.parentElement?.clientWidth ?? 800;
  const scale = Math.min(2, devicePixelRatio);
  board.width = width * scale;
  board.height = HEIGHT * scale;
  board.style.width = `${width}px`;
  board.style.height = `${HEIGHT}px`;
  const pen = board.getContext("2d") as CanvasRenderingContext2D;
  pen.scale(scale, scale);
  const w = Math.min(34, (width - LEFT - 8) / paths.registers);
  const h = Math.min(16, (HEIGHT - TOP - 4) / paths.threads);
  pen.font = "10px system-ui";
  pen.fillStyle = color("--dim");
  pen.textBaseline = "middle";
  pen.textAlign = "right";
  for (let thread = 0; thread < paths.threads; thread += lanes) {
    pen.fillText(`warp ${thread / lanes}`, LEFT - 6, TOP + (thread + lanes / 2) * h);
    pen.fillRect(0, TOP + thread * h - 0.5, width, 0.5);
  }
  pen.textAlign = "center";
  const every = Math.max(1, Math.ceil(20 / w));
  for (let register = 0; register < paths.registers; register += every) {
    pen.fillText(`${register}`, LEFT + (register + 0.5) * w, TOP / 2);
  }
  const dim = 0.75;
  const eased = at * at * (3 - 2 * at);
  const place = (k: number): [number, number] => {
    const [t0, r0, t1, r1] = [
      paths.from[2 * k],
      paths.from[2 * k + 1],
      paths.to[2 * k],
      paths.to[2 * k + 1],
    ] as number[];
    const thread = (t0 ?? 0) + ((t1 ?? 0) - (t0 ?? 0)) * eased;
    const register = (r0 ?? 0) + ((r1 ?? 0) - (r0 ?? 0)) * eased;
    return [LEFT + register * w, TOP + thread * h];
  };
  const gap = h > 3 ? 1 : 0;
  pen.globalAlpha = dim;
  for (let k = 0; k < paths.element.length; k++) {
    const [x, y] = place(k);
    pen.fillStyle = hue((paths.from[2 * k] ?? 0) % lanes);
    pen.fillRect(x, y, w - gap, h - gap);
  }
  pen.globalAlpha = 1;
  pen.strokeStyle = color("--bad");
  pen.fillStyle = color("--bad");
  for (let k = 0; k < paths.element.length; k++) {
    if (paths.element[k] !== chosen) continue;
    const start = [
      LEFT + (paths.from[2 * k + 1] ?? 0) * w + w / 2,
      TOP + (paths.from[2 * k] ?? 0) * h + h / 2,
    ] as const;
    const [x, y] = place(k);
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.moveTo(start[0], start[1]);
    pen.lineTo(x + w / 2, y + h / 2);
    pen.stroke();
    pen.fillRect(x, y, Math.max(4, w - gap), Math.max(4, h - gap));
  }
}

const KINDS: [string, string, string][] = [
  ["stay", "stay in place", "--good"],
  ["registers", "to another register of the thread", "--accent"],
  ["lanes", "to another lane of the warp", "--value"],
  ["warps", "to another warp", "--warn"],
  ["blocks", "to another CTA", "--bad"],
];

function Shares(props: { moves: Record<string, number> }) {
  const total = Object.values(props.moves).reduce((a, b) => a + b, 0) || 1;
  const shown = KINDS.filter(([name]) => props.moves[name]);
  return (
    <>
      <div class="stack" role="img" aria-label={shown.map(([n, said]) => `${props.moves[n]} ${said}`).join(", ")}>
        {shown.map(([name, , tone]) => (
          <i key={name} style={{ width: `${(100 * (props.moves[name] ?? 0)) / total}%`, background: `var(${tone})` }} />
        ))}
      </div>
      <div class="legend">
        {shown.map(([name, said, tone]) => (
          <span key={name}>
            <i style={{ background: `var(${tone})` }} />
            {props.moves[name]} {said}
          </span>
        ))}
      </div>
    </>
  );
}

export function Movement(props: { of: Conversion }) {
  const { of } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const frame = useRef(0);
  const [at, setAt] = useState(0);
  const now = theme.value;
  const paths = useMemo(() => pathsOf(of), [of]);
  const lanes = of.source.sizes[of.source.axes.indexOf("lane")] ?? 32;
  const chosen = element.value;
  useEffect(() => {
    const board = canvas.current as HTMLCanvasElement;
    draw(board, paths, at, chosen, lanes);
    const observer = new ResizeObserver(() => draw(board, paths, at, chosen, lanes));
    observer.observe(board.parentElement as HTMLElement);
    return () => observer.disconnect();
  }, [paths, at, chosen, now, lanes]);
  useEffect(() => () => cancelAnimationFrame(frame.current), [of]);
  const play = (): void => {
    cancelAnimationFrame(frame.current);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      setAt(at >= 1 ? 0 : 1);
      return;
    }
    const [first, last] = at >= 1 ? [1, 0] : [at, 1];
    const began = performance.now();
    const step = (time: number): void => {
      const share = Math.min(1, (time - began) / MILLISECONDS);
      setAt(first + (last - first) * share);
      if (share < 1) frame.current = requestAnimationFrame(step);
    };
    frame.current = requestAnimationFrame(step);
  };
  const elements = of.shape.reduce((a, b) => a * b, 1);
  const holders = of.result.places[chosen] ?? [];
  return (
    <>
      <Message
        level={of.method === "nothing" || of.method === "registers" ? "good" : "note"}
        title={`By ${of.method}${of.bytes ? `: ${of.bytes.toLocaleString("en")} bytes` : ""}`}
        text={of.why}
      />
      <Shares moves={of.moves} />
      <div class="controls">
        <button type="button" class="primary" onClick={play}>
          {at >= 1 ? "Play back" : "Play"}
        </button>
        <label class="field grow">
          <span>source layout</span>
          <input
            type="range"
            min={0}
            max={100}
            value={Math.round(at * 100)}
            aria-label="From the source layout to the result layout"
            onInput={(e) => {
              cancelAnimationFrame(frame.current);
              setAt(Number(e.currentTarget.value) / 100);
            }}
          />
          <span class="dim">result layout</span>
        </label>
        <label class="field">
          <span>element</span>
          <input
            type="number"
            min={0}
            max={elements - 1}
            value={chosen}
            onInput={(e) => {
              element.value = Math.max(0, Math.min(elements - 1, Number(e.currentTarget.value) || 0));
            }}
          />
        </label>
      </div>
      <p class="readout" aria-live="polite">
        element {indexText(of.shape, chosen)}: {seatText(of.source, of.source.places[chosen]?.[0])} →{" "}
        {holders
          .slice(0, 3)
          .map((h) => seatText(of.result, h))
          .join("; ")}
        {holders.length > 3 ? ` and ${holders.length - 3} more` : ""}
      </p>
      <p class="tip">
        Rows are threads, columns registers; a color is the lane that holds an element in the source layout.
      </p>
      <div class="movement">
        <canvas
          ref={canvas}
          role="img"
          aria-label={`${elements} elements in threads and registers, ${Math.round(at * 100)}% of the way`}
        />
      </div>
    </>
  );
}
