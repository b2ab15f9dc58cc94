// Autotuning: the configurations as a table and a plot, which fill while they are measured.
import { axis, Chart, color } from "../chart.tsx";
import type { Tuning } from "../contract.ts";
import { resource } from "../data.ts";
import { trim } from "../format.ts";
import { Pending } from "../parts.tsx";
import { currentSession } from "../state.ts";

const MAX_ROWS = 120;

function One(props: { of: Tuning }) {
  const { of } = props;
  const rows = [...of.rows].sort((a, b) => (a.ms ?? 1e9) - (b.ms ?? 1e9));
  const done = rows.filter((r) => r.ms !== null);
  return (
    <section aria-label={`Autotuning of ${of.kernel}`}>
      <h3>
        {of.kernel} {of.key}: {done.length} of {rows.length} measured{of.state === "running" ? ", running" : ""}
      </h3>
      <Chart
        label={`Time of each configuration of ${of.kernel}`}
        height={220}
        data={[done.map((_, i) => i + 1), done.map((r) => r.ms)]}
        options={() => ({
          scales: { x: { time: false } },
          axes: [axis("rank", { incrs: [1, 2, 5, 10, 20, 50, 100] }), axis(of.unit)],
          series: [{}, { stroke: color("--accent"), fill: color("--accent-bg"), points: { show: true, size: 5 } }],
          legend: { show: false },
        })}
      />
      <table>
        <thead>
          <tr>
            {of.parameters.map((name) => (
              <th key={name}>{name}</th>
            ))}
            <th class="r">{of.unit}</th>
            <th>state</th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MAX_ROWS).map((row, index) => (
            <tr key={index} class={row.best ? "best" : ""}>
              {of.parameters.map((name) => (
                <td key={name}>{row.config[name] ?? ""}</td>
              ))}
              <td class="r">{row.ms === null ? "" : trim(row.ms)}</td>
              <td>
                {row.best ? "best" : row.state} {row.message}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > MAX_ROWS ? (
        <p class="tip">{rows.length - MAX_ROWS} slower configurations are not listed.</p>
      ) : null}
    </section>
  );
}

export function TuningView() {
  const ids = currentSession.value?.tunings ?? [];
  if (!ids.length) return <p class="empty">No kernel of this session was autotuned.</p>;
  return (
    <div class="view">
      {ids.map((id) => (
        <Pending key={id} of={resource<Tuning>(`api/tuning/${id}`).value} what="autotuning">
          {(of) => <One of={of} />}
        </Pending>
      ))}
    </div>
  );
}
