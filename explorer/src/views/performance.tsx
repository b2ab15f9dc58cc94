// Resources, findings, the roofline and the order of instructions of warp groups.
import type { Finding, Performance } from "../contract.ts";
import { resource } from "../data.ts";
import { quantity } from "../format.ts";
import { List } from "../list.tsx";
import { Message, Pending, PlaceLink } from "../parts.tsx";
import { documentId, selectPick, show, view } from "../state.ts";

function openLine(stage: string, line: number, text?: string): void {
  selectPick({ stage, pass: null });
  view.value = "stages";
  if (text) show(text, line);
}

function FindingItem(props: { of: Finding }) {
  const one = props.of;
  return (
    <div class="finding">
      <strong>{one.kind}</strong> <PlaceLink place={one.place} />
      <p>{one.message}</p>
      {one.source || one.text ? <code>{one.source ?? one.text}</code> : null}
      {one.hint ? <p class="hint-text">{one.hint}</p> : null}
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

function Bound(props: { of: NonNullable<Performance["roofline"]> }) {
  const { of } = props;
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
      {of.assumptions.map((said) => (
        <p class="tip" key={said}>
          assumed: {said}
        </p>
      ))}
    </section>
  );
}

function Order(props: { of: NonNullable<Performance["order"]> }) {
  const { of } = props;
  return (
    <section aria-label="Order of instructions">
      <h3>Order of loads, dots and waits</h3>
      <p class="tip">{of.note}</p>
      <div class="lanes">
        {of.groups.map((group) => (
          <div key={group.name}>
            <h4>
              {group.name} ({group.warps} warps)
            </h4>
            <List
              label={group.name}
              items={group.steps}
              height={22}
              selected={-1}
              onSelect={(index) => {
                const step = group.steps[index];
                if (step) openLine(step.stage, step.line, of.text);
              }}
              row={(step) => (
                <>
                  <span style={{ width: `${step.depth * 12}px` }} />
                  <span class={`step ${step.kind === "dot" ? "dot-op" : step.kind}`} />
                  <span class="mono name">{step.text}</span>
                </>
              )}
              name={(step) => `${step.kind} ${step.text}`}
            />
          </div>
        ))}
      </div>
    </section>
  );
}

export function PerformanceView() {
  const loaded = resource<Performance>(`api/performance/${documentId.value}`).value;
  return (
    <div class="view">
      <Pending of={loaded} what="performance report">
        {(found) => (
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
            <div class="columns">
              <section aria-label="Findings">
                <h3>Findings</h3>
                {[...(found.findings ?? []), ...(found.remarks ?? [])].map((one, index) => (
                  <FindingItem of={one} key={index} />
                ))}
                {found.findings?.length || found.remarks?.length ? null : <p class="tip">None.</p>}
              </section>
              {found.occupancy ? <Occupancy of={found.occupancy} /> : null}
              {found.roofline ? <Bound of={found.roofline} /> : null}
            </div>
            {found.order ? <Order of={found.order} /> : null}
          </>
        )}
      </Pending>
    </div>
  );
}
