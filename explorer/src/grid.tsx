// A grid of cells on a canvas: one node for any number of elements.
import { useEffect, useRef } from "preact/hooks";
import { color } from "./chart.tsx";
import { theme } from "./state.ts";

export interface GridProps {
  label: string;
  rows: number;
  columns: number;
  selected: number;
  fill: (index: number) => string;
  caption: (index: number) => string;
  onSelect: (index: number) => void;
  /** Elements to outline, such as all those of the selected lane. */
  like?: (index: number) => boolean;
  onHover?: (index: number) => void;
  /** The least width of a cell in pixels, so that its caption fits; a wide grid scrolls. */
  cell?: number;
}

const MAX_SIDE = 8000;
const MARGIN_LEFT = 30;
const MARGIN_TOP = 15;
const MAX_CAPTIONS = 8192;

interface Cells {
  width: number;
  height: number;
}

function cellsFor(rows: number, columns: number, available: number, least: number): Cells {
  const fitting = Math.floor((available - MARGIN_LEFT - 2) / columns);
  const width = Math.max(4, Math.min(38, Math.floor(MAX_SIDE / columns), Math.max(least, fitting)));
  return { width, height: Math.max(4, Math.min(20, Math.floor(MAX_SIDE / rows))) };
}

function drawAxes(pen: CanvasRenderingContext2D, rows: number, columns: number, cells: Cells): void {
  pen.fillStyle = color("--dim");
  pen.font = "9px system-ui";
  pen.textBaseline = "middle";
  pen.textAlign = "center";
  const every = Math.max(1, Math.ceil(22 / cells.width));
  for (let column = 0; column < columns; column += every) {
    pen.fillText(String(column), MARGIN_LEFT + (column + 0.5) * cells.width, MARGIN_TOP / 2);
  }
  pen.textAlign = "right";
  const step = Math.max(1, Math.ceil(12 / cells.height));
  for (let row = 0; row < rows; row += step) {
    pen.fillText(String(row), MARGIN_LEFT - 4, MARGIN_TOP + (row + 0.5) * cells.height);
  }
}

export function Grid(props: GridProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const sizes = useRef<Cells>({ width: 20, height: 20 });
  const now = theme.value;
  const { rows, columns } = props;
  useEffect(() => {
    const board = canvas.current as HTMLCanvasElement;
    const draw = (): void => {
      const box = board.parentElement as HTMLElement;
      const cells = cellsFor(rows, columns, box.clientWidth, columns <= 128 ? (props.cell ?? 14) : 14);
      sizes.current = cells;
      const { width, height } = cells;
      const scale = rows * columns > 20_000 ? 1 : Math.min(2, devicePixelRatio);
      const [w, h] = [MARGIN_LEFT + columns * width, MARGIN_TOP + rows * height];
      board.width = w * scale;
      board.height = h * scale;
      board.style.width = `${w}px`;
      board.style.height = `${h}px`;
      const pen = board.getContext("2d") as CanvasRenderingContext2D;
      pen.scale(scale, scale);
      drawAxes(pen, rows, columns, cells);
      pen.textAlign = "center";
      const captions = width >= 14 && height >= 12 && rows * columns <= MAX_CAPTIONS;
      pen.font = width >= 24 ? "10px system-ui" : "9px system-ui";
      for (let index = 0; index < rows * columns; index++) {
        const x = MARGIN_LEFT + (index % columns) * width;
        const y = MARGIN_TOP + Math.floor(index / columns) * height;
        pen.fillStyle = props.fill(index);
        pen.fillRect(x, y, width - 1, height - 1);
        if (captions) {
          const caption = props.caption(index);
          if (caption && caption.length * 5.6 < 1.35 * width) {
            pen.fillStyle = "#10141a";
            pen.fillText(caption, x + (width - 1) / 2, y + height / 2, width - 2);
          }
        }
        if (props.like?.(index)) {
          pen.strokeStyle = "#10141a";
          pen.lineWidth = 1.5;
          pen.strokeRect(x + 0.5, y + 0.5, width - 2, height - 2);
        }
      }
      const at = props.selected;
      if (at >= 0 && at < rows * columns) {
        pen.strokeStyle = color("--bad");
        pen.lineWidth = 2.5;
        const x = MARGIN_LEFT + (at % columns) * width;
        pen.strokeRect(x - 0.5, MARGIN_TOP + Math.floor(at / columns) * height - 0.5, width, height);
      }
    };
    draw();
    let before = 0;
    const observer = new ResizeObserver(([entry]) => {
      const width = entry?.contentRect.width ?? 0;
      if (before && width !== before) draw();
      before = width;
    });
    observer.observe(board.parentElement as HTMLElement);
    return () => observer.disconnect();
  }, [rows, columns, props.selected, props.fill, props.caption, props.like, now]);
  const move = (event: KeyboardEvent): void => {
    const steps: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns };
    const by = steps[event.key];
    if (by === undefined) return;
    event.preventDefault();
    props.onSelect(Math.max(0, Math.min(rows * columns - 1, props.selected + by)));
  };
  const find = (event: MouseEvent): number => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - MARGIN_LEFT) / sizes.current.width);
    const row = Math.floor((event.clientY - box.top - MARGIN_TOP) / sizes.current.height);
    return column >= 0 && row >= 0 && column < columns && row < rows ? row * columns + column : -1;
  };
  return (
    <div
      class="canvas-box"
      tabIndex={0}
      role="application"
      aria-label={`${props.label}; arrow keys move`}
      onKeyDown={move}
    >
      <canvas
        ref={canvas}
        onMouseMove={(e) => {
          if (props.onHover) props.onHover(find(e));
        }}
        onMouseLeave={() => props.onHover?.(-1)}
        onClick={(e) => {
          const index = find(e);
          if (index >= 0) props.onSelect(index);
        }}
      />
    </div>
  );
}

/** Rows and columns in which a tensor is drawn. */
export function sides(shape: number[]): [number, number] {
  const elements = shape.reduce((a, b) => a * b, 1);
  const columns = shape.length > 1 ? (shape[shape.length - 1] ?? 1) : Math.min(32, elements);
  return [Math.ceil(elements / Math.max(1, columns)), columns];
}

/** An index of a row-major tensor as text, such as (3, 5). */
export function indexText(shape: number[], element: number): string {
  const parts: number[] = [];
  let rest = element;
  for (const size of [...shape].reverse()) {
    parts.unshift(rest % size);
    rest = Math.floor(rest / size);
  }
  return `(${parts.join(", ")})`;
}

/** A color for a small integer, in which neighbours differ. */
export function hue(number: number): string {
  return `hsl(${(number * 47) % 360} 58% ${76 - (Math.floor(number / 8) % 4) * 5}%)`;
}
