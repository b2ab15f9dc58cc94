// The roofline of a launch: what memory and arithmetic allow at each intensity, and where the kernel is.
import { axis, Chart, color } from "../../chart.tsx";
import type { Roofline } from "../../contract.ts";
import { quantity } from "../../format.ts";

function sum(of: Record<string, number> | undefined): number {
  return Object.values(of ?? {}).reduce((a, b) => a + b, 0);
}

function Plot(props: { of: Roofline; operations: number; intensity: number }) {
  const { rates } = props.of;
  const peaks = Object.entries(rates.peaks);
  const highest = Math.max(...peaks.map(([, peak]) => peak));
  const ridge = highest / rates.bandwidth;
  const [first, last] = [Math.min(0.1, props.intensity / 4), Math.max(ridge * 16, props.intensity * 4)];
  const ridges = peaks.map(([, peak]) => peak / rates.bandwidth);
  const x = [...new Set([first, ...ridges, props.intensity, last])].sort((a, b) => a - b);
  const at = x.indexOf(props.intensity);
  const roofs = peaks.map(([, peak]) => x.map((v) => Math.min(peak, v * rates.bandwidth)));
  const reached = props.operations / props.of.seconds;
  const kernel = x.map((_, index) => (index === at ? reached : null));
  const tones = ["--accent", "--value", "--good"];
  return (
    <Chart
      label={`Roofline: at ${props.intensity.toPrecision(3)} operations a byte the bound is ${quantity(reached, "FLOP/s")}`}
      height={230}
      data={[x, ...roofs, kernel]}
      options={() => ({
        scales: { x: { time: false, distr: 3 }, y: { distr: 3 } },
        axes: [
          axis("operations a byte", { values: (_, ticks) => ticks.map((t) => (t ? quantity(t, "").trim() : "")) }),
          axis("FLOP/s", { size: 64, values: (_, ticks) => ticks.map((t) => (t ? quantity(t, "").trim() : "")) }),
        ],
        series: [
          {},
          ...peaks.map(([name], index) => ({
            label: name,
            stroke: color(tones[index % tones.length] ?? "--accent"),
            width: 2,
            points: { show: false },
          })),
          {
            label: "kernel",
            stroke: color("--bad"),
            width: 0,
            points: { show: true, size: 11, fill: color("--bad") },
          },
        ],
        legend: { show: false },
        cursor: { show: false },
      })}
    />
  );
}

export function RooflineView(props: { of: Roofline }) {
  const { of } = props;
  const operations = sum(of.work.dots) + sum(of.work.flops);
  const { intensity } = of;
  return (
    <section aria-label="Roofline">
      <h3>
        Roofline bound: {quantity(of.seconds, "s")}, limited by {of.limit}
      </h3>
      <table>
        <tbody>
          {Object.entries(of.parts).map(([name, seconds]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                <div class={name === of.limit ? "meter limit" : "meter"}>
                  <i style={{ width: `${of.seconds ? (100 * seconds) / of.seconds : 0}%` }} />
                </div>
              </td>
              <td class="r">{quantity(seconds, "s")}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {intensity && operations && Object.keys(of.rates.peaks).length ? (
        <Plot of={of} operations={operations} intensity={intensity} />
      ) : null}
      <p class="tip">
        {quantity(of.work.bytes, "B")} of memory traffic
        {of.work.requested ? `, ${quantity(of.work.requested, "B")} requested` : ""}
        {operations ? `, ${quantity(operations, "FLOP")}` : ""}
        {intensity ? `, ${intensity.toPrecision(3)} operations a byte` : ""}. The bound is a limit, not a measurement.
      </p>
      {of.assumptions.map((said) => (
        <p class="tip" key={said}>
          Assumed: {said}
        </p>
      ))}
    </section>
  );
}
