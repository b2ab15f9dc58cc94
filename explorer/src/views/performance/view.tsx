// Resources, findings, the roofline and the order of instructions of warp groups.
import type { Finding, Performance } from "../../contract.ts";
import { resource } from "../../data.ts";
import { text } from "../../format.ts";
import { List } from "../../list.tsx";
import { Message, Pending, PlaceLink, pointedLines } from "../../parts.tsx";
import { currentDocument, documentId, openPick, show, stageNamed } from "../../state.ts";
import { RooflineView } from "./roofline.tsx";

const MAX_LINKS = 6;
const MAX_ROWS = 40;

function openLine(stage: string, line: number): void {
  const found = currentDocument.peek();
  openPick({ stage, pass: null });
  const id = found?.listings.find((l) => l.name === stage)?.text ?? stageNamed(found, stage)?.after;
  if (id) show(id, line);
}

function LineLinks(props: { of: Finding }) {
  const shown = Object.keys(props.of.lines).map((stage): [string, number[]] => [stage, pointedLines(props.of, stage)]);
  return (
    <>
      {shown.map(([stage, lines]) =>
        lines.length ? (
          <p class="links" key={stage}>
            <span class="dim">{stage}</span>
            {lines.slice(0, MAX_LINKS).map((line) => (
              <button type="button" class="link" key={line} onClick={() => openLine(stage, line)}>
                line {line}
              </button>
            ))}
            {lines.length > MAX_LINKS ? <span class="dim">and {lines.length - MAX_LINKS} more</span> : null}
          </p>
        ) : null,
      )}
    </>
  );
}

function FindingItem(props: { of: Finding }) {
  const one = props.of;
  return (
    <div class="finding">
      <strong>{one.kind}</strong> <PlaceLink place={one.place} />
      <p>{one.message}</p>
      {one.source || one.text ? <code>{one.source || one.text}</code> : null}
      {one.hint ? <p class="hint-text">{one.hint}</p> : null}
      <LineLinks of={one} />
    </div>
  );
}

function Occupancy(props: { of: NonNullable<Performance["occupancy"]> }) {
  const { of } = props;
  const most = Math.max(1, ...Object.values(of.limits));
  return (
    <section aria-label="Occupancy">
      <h3>
        Occupancy: {of.warps} of {of.max_warps} warps, limited by {of.limit}
      </h3>
      <table>
        <tbody>
          {Object.entries(of.limits).map(([name, ctas]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                <div class={name === of.limit ? "meter limit" : "meter"}>
                  <i style={{ width: `${(100 * ctas) / most}%` }} />
                </div>
              </td>
              <td class="r">{ctas} CTAs/SM</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const STEP_KINDS: [string, string][] = [
  ["load", "load"],
  ["dot", "dot"],
  ["wait", "wait"],
  ["store", "store"],
  ["barrier", "barrier"],
  ["loop", "loop"],
];

function Order(props: { of: NonNullable<Performance["order"]> }) {
  const { of } = props;
  const longest = Math.max(...of.groups.map((g) => g.steps.length), 1);
  return (
    <section aria-label="Order of instructions">
      <h3>Order of loads, dots and waits</h3>
      <p class="tip">This is {of.note.replace(/^order/, "an order")}.</p>
      <div class="legend">
        {STEP_KINDS.map(([kind, label]) => (
          <span key={kind}>
            <i class={`step ${kind}-op`} />
            {label}
          </span>
        ))}
      </div>
      <div class="lanes" style={{ height: `${Math.min(460, longest * 22 + 34)}px` }}>
        {of.groups.map((group) => (
          <div key={group.name}>
            <h4>
              {group.name} ({group.warps} warp{group.warps === 1 ? "" : "s"})
            </h4>
            <List
              label={group.name}
              items={group.steps}
              height={22}
              selected={-1}
              onSelect={(index) => {
                const step = group.steps[index];
                if (step) openLine(step.stage, step.line);
              }}
              row={(step) => (
                <>
                  <span style={{ width: `${step.depth * 14}px` }} />
                  <span class={`step ${step.kind}-op`} />
                  <span class="mono name">{step.text}</span>
                  <span class="num">{step.place ? `:${step.place.line}` : ""}</span>
                </>
              )}
              name={(step) => `${step.kind} ${step.text}, line ${step.line}`}
            />
          </div>
        ))}
      </div>
    </section>
  );
}

function Mix(props: { title: string; of: Record<string, number> }) {
  const rows = Object.entries(props.of).sort((a, b) => b[1] - a[1]);
  if (!rows.length) return null;
  const most = Math.max(1, ...rows.map(([, n]) => n));
  return (
    <section aria-label={props.title}>
      <h3>{props.title}</h3>
      <table>
        <tbody>
          {rows.map(([name, count]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                <div class="meter">
                  <i style={{ width: `${(100 * count) / most}%` }} />
                </div>
              </td>
              <td class="r">{count}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Place(props: { of: string }) {
  const found = /^(.*):(\d+):(\d+)$/.exec(props.of);
  const source = currentDocument.value?.sources.find((s) => s.file.endsWith(found?.[1] ?? "\n"));
  if (!found || !source) return <>{props.of}</>;
  return <PlaceLink place={{ file: source.file, line: Number(found[2]), column: Number(found[3]) }} />;
}

function Rows(props: { title: string; rows: Record<string, unknown>[]; columns: [string, string][] }) {
  if (!props.rows.length) return null;
  const shown = props.rows.slice(0, MAX_ROWS);
  const columns = props.columns.filter(([name]) => shown.some((row) => row[name] !== undefined && row[name] !== ""));
  return (
    <section aria-label={props.title} class="wide">
      <h3>{props.title}</h3>
      <div class="scroll-x" tabIndex={0} role="region" aria-label={`Table: ${props.title}`}>
        <table>
          <thead>
            <tr>
              {columns.map(([name, label]) => (
                <th scope="col" key={name} class={typeof shown[0]?.[name] === "number" ? "r" : ""}>
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, index) => (
              <tr key={index} class={Number(row.conflicts) > 0 ? "differs" : ""}>
                {columns.map(([name]) => (
                  <td key={name} class={typeof row[name] === "number" ? "r" : name === "name" ? "mono" : ""}>
                    {name === "place" ? <Place of={text(row[name])} /> : text(row[name])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {props.rows.length > MAX_ROWS ? <p class="tip">and {props.rows.length - MAX_ROWS} more</p> : null}
    </section>
  );
}

/** One finding of each kind first, then the others. */
function ordered(all: Finding[]): Finding[] {
  const first = all.filter((one, index) => all.findIndex((other) => other.kind === one.kind) === index);
  return [...first, ...all.filter((one) => !first.includes(one))];
}

function Report(props: { of: Performance }) {
  const found = props.of;
  const findings = ordered([...(found.findings ?? []), ...(found.remarks ?? [])]);
  return (
    <>
      {found.available ? null : <Message level="note" title="Not analysed" text={found.reason} />}
      <div class="cards">
        {found.cards.map((card) => (
          <div class={`card ${card.level}`} key={card.name}>
            <div class="k">{card.name}</div>
            <div class="v">{card.value}</div>
            <div class="d">{card.detail}</div>
          </div>
        ))}
      </div>
      <section aria-label="Findings">
        <h3>Findings</h3>
        {findings.map((one, index) => (
          <FindingItem of={one} key={index} />
        ))}
        {findings.length ? null : (
          <p class="tip">None: no spills, no uncoalesced access, no remark of the assembler.</p>
        )}
      </section>
      <div class="columns">
        {found.roofline ? (
          <RooflineView of={found.roofline} />
        ) : found.roofline_reason ? (
          <section aria-label="Roofline">
            <h3>Roofline</h3>
            <p class="tip">Not known: {found.roofline_reason}.</p>
          </section>
        ) : null}
        {found.occupancy && Object.keys(found.occupancy.limits).length ? <Occupancy of={found.occupancy} /> : null}
      </div>
      {found.order ? <Order of={found.order} /> : null}
      <div class="columns">
        <Mix title="Machine instructions by kind (static count)" of={found.mix ?? {}} />
        <Rows
          title="Memory instructions"
          rows={found.memory ?? []}
          columns={[
            ["name", "instruction"],
            ["space", "memory"],
            ["bytes", "bytes a lane"],
            ["number", "count"],
            ["in_loops", "in loops"],
          ]}
        />
      </div>
      <Rows
        title="Accesses to shared memory"
        rows={found.accesses ?? []}
        columns={[
          ["name", "operation"],
          ["place", "source"],
          ["instruction", "instruction"],
          ["instructions", "a warp"],
          ["wavefronts", "wavefronts"],
          ["conflicts", "conflicts"],
        ]}
      />
      <Rows
        title="Buffers of shared memory"
        rows={found.buffers ?? []}
        columns={[
          ["name", "operation"],
          ["place", "source"],
          ["tile", "tile"],
          ["offset", "offset"],
          ["bytes", "bytes"],
          ["stages", "stages"],
        ]}
      />
    </>
  );
}

export function PerformanceView() {
  const loaded = resource<Performance>(`api/performance/${documentId.value}`).value;
  return (
    <div class="view">
      <Pending of={loaded} what="performance report">
        {(found) => <Report of={found} />}
      </Pending>
    </div>
  );
}
