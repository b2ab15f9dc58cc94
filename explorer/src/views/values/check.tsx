// The comparison of all stages of a kernel: the first difference, the pass that caused it, and its operation.
import { batch } from "@preact/signals";
import type { Check } from "../../contract.ts";
import { text } from "../../format.ts";
import { Facts, Message, PlaceLink } from "../../parts.tsx";
import { act, can, documentId, openPick, rewriteIndex, show } from "../../state.ts";

type Finding = NonNullable<Check["finding"]>;

const SOUND = ["same", "within tolerance"];

/** Open the pass of a finding, at the operation in the text after it. */
export function openFinding(finding: Finding): void {
  batch(() => {
    openPick({ stage: finding.stage, pass: finding.pass });
    if (finding.rewrite && finding.rewrite.index >= 0) rewriteIndex.value = finding.rewrite.index + 1;
    const line = finding.line_after ?? finding.line_before;
    const id = finding.line_after ? finding.texts?.after : finding.texts?.before;
    if (line && id) show(id, line);
  });
}

function What(props: { of: Finding }) {
  const { of } = props;
  const rows: [string, preact.ComponentChildren][] = [];
  if (of.argument) {
    rows.push([
      "element",
      <code>
        {of.argument}[{of.element.join(", ")}] is {text(of.got)}, expected {text(of.expected)}
      </code>,
    ]);
    rows.push(["different", `${of.different} of ${of.elements} elements`]);
  }
  if (of.rewrite) {
    rows.push([
      "rewrite",
      <span>
        <strong>{of.rewrite.rule}</strong>{" "}
        {of.rewrite.equation ? <code class="math">{of.rewrite.equation}</code> : null}
      </span>,
    ]);
  }
  if (of.operation) {
    if (of.operation.before) rows.push(["before", <code class="minus">{of.operation.before}</code>]);
    rows.push(["after", <code class="plus">{of.operation.after}</code>]);
    if (of.operation.message) rows.push(["values", <code>{of.operation.message}</code>]);
  }
  return <Facts rows={rows} />;
}

export function Verdict(props: { of: Check }) {
  const { of } = props;
  const { finding } = of;
  if (of.state === "running") return <Message level="note" title="Running the kernel at every step …" />;
  return (
    <section aria-label="Check of all stages" class="verdict">
      <Message
        level={of.state === "different" ? "bad" : of.state === "same" ? "good" : "note"}
        title={finding ? `First difference: ${finding.step}` : of.state === "same" ? "All stages agree" : "Not checked"}
        text={finding ? finding.message : of.message}
      />
      {finding ? (
        <div class="finding-box">
          <What of={finding} />
          <p class="controls">
            {finding.pass !== null || finding.stage ? (
              <button type="button" class="primary" onClick={() => openFinding(finding)}>
                {finding.pass === null ? "Show the stage" : "Show the pass"}
              </button>
            ) : null}
            <PlaceLink place={finding.place} />
          </p>
        </div>
      ) : null}
      {of.verdicts.length ? (
        <details open={of.state === "different"}>
          <summary>{of.verdicts.length} steps were run</summary>
          <table>
            <tbody>
              {of.verdicts.map((one, index) => (
                <tr key={index} class={SOUND.includes(one.verdict) || one.verdict === "not run" ? "" : "differs"}>
                  <th scope="row">{one.step}</th>
                  <td>{one.verdict}</td>
                  <td>{one.detail}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      ) : null}
    </section>
  );
}

export function CheckButton() {
  return (
    <button
      type="button"
      disabled={!can("check")}
      title="Run the kernel at every step of the compiler, and compare"
      onClick={() => void act("api/check", { document: documentId.value })}
    >
      Check all stages
    </button>
  );
}
