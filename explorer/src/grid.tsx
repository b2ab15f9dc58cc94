// A grid of cells on a canvas: one node for any number of elements.
import { useEffect, useRef } from "preact/hooks";
import { theme } from "./state.ts";

export interface GridProps {
  label: string;
  rows: number;
  columns: number;
  selected: number;
  fill: (index: number) => string;
  caption: (index: number) => string;
  onSelect: (index: number) => void;
}

const MAX_SIDE = 8000;

export function Grid(props: GridProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const now = theme.value;
  const { rows, columns } = props;
  const width = Math.max(2, Math.min(34, Math.floor(MAX_SIDE / columns)));
  const height = Math.max(2, Math.min(20, Math.floor(MAX_SIDE / rows)));
  useEffect(() => {
    const board = canvas.current as HTMLCanvasElement;
    board.width = columns * width;
    board.height = rows * height;
    const pen = board.getContext("2d") as CanvasRenderingContext2D;
    pen.font = "9px sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    const captions = width >= 24 && height >= 12 && rows * columns <= 4096;
    for (let index = 0; index < rows * columns; index++) {
      const x = (index % columns) * width;
      const y = Math.floor(index / columns) * height;
      pen.fillStyle = props.fill(index);
      pen.fillRect(x, y, width - 1, height - 1);
      if (captions) {
        pen.fillStyle = "#111";
        pen.fillText(props.caption(index), x + width / 2, y + height / 2, width - 2);
      }
      if (index === props.selected) {
        pen.strokeStyle = "#d00";
        pen.lineWidth = 2;
        pen.strokeRect(x + 1, y + 1, width - 3, height - 3);
      }
    }
  }, [rows, columns, props.selected, props.fill, props.caption, now]);
  const move = (event: KeyboardEvent): void => {
    const steps: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns };
    const by = steps[event.key];
    if (by === undefined) return;
    event.preventDefault();
    props.onSelect(Math.max(0, Math.min(rows * columns - 1, props.selected + by)));
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
        onClick={(e) => {
          const box = e.currentTarget.getBoundingClientRect();
          const column = Math.floor((e.clientX - box.left) / width);
          const row = Math.floor((e.clientY - box.top) / height);
          if (column < columns && row < rows) props.onSelect(row * columns + column);
        }}
      />
    </div>
  );
}

export function sides(shape: number[]): [number, number] {
  const elements = shape.reduce((a, b) => a * b, 1);
  const columns = shape.length > 1 ? (shape[shape.length - 1] ?? 1) : Math.min(32, elements);
  return [Math.ceil(elements / Math.max(1, columns)), columns];
}
