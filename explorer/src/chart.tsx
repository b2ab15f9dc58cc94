// uPlot in a component.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { theme } from "./state.ts";

export function color(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export function axis(label: string, extra: uPlot.Axis = {}): uPlot.Axis {
  return {
    label,
    stroke: color("--dim"),
    grid: { stroke: color("--line"), width: 1 },
    ticks: { stroke: color("--line"), width: 1 },
    font: "11px system-ui",
    labelFont: "12px system-ui",
    ...extra,
  };
}

/** A chart whose options are made anew when the theme, the data or the width change. */
export function Chart(props: {
  label: string;
  height: number;
  data: uPlot.AlignedData;
  options: () => Omit<uPlot.Options, "width" | "height">;
}) {
  const host = useRef<HTMLDivElement>(null);
  const now = theme.value;
  const key = JSON.stringify(props.data);
  useEffect(() => {
    const at = host.current as HTMLDivElement;
    const width = (): number => Math.max(260, Math.min(at.clientWidth, 1100));
    const plot = new uPlot({ ...props.options(), width: width(), height: props.height }, props.data, at);
    const observer = new ResizeObserver(() => plot.setSize({ width: width(), height: props.height }));
    observer.observe(at);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [key, now, props.height]);
  return <div ref={host} role="img" aria-label={props.label} />;
}
