// The access of a warp to a buffer of shared memory: the banks of each lane, and the conflicts.
import { useCallback, useMemo, useState } from "preact/hooks";
import type { SharedAccess } from "../../contract.ts";
import { Grid } from "../../grid.tsx";
import { Message } from "../../parts.tsx";

const BANKS = 32;
const WORD = 4;

interface Picture {
  /** For each lane and bank: how many words of the bank the lane accesses. */
  cells: Map<number, number>;
  /** For each bank: how many different words are accessed. */
  words: number[];
  lanes: number;
}

function pictureOf(one: SharedAccess["accesses"][number]): Picture {
  const cells = new Map<number, number>();
  const words = Array.from({ length: BANKS }, () => new Set<number>());
  one.lanes.forEach((lane, row) => {
    for (let byte = lane.address; byte < lane.address + lane.bytes; byte += WORD) {
      const word = Math.floor(byte / WORD);
      const at = row * BANKS + (word % BANKS);
      cells.set(at, (cells.get(at) ?? 0) + 1);
      words[word % BANKS]?.add(word);
    }
  });
  return { cells, words: words.map((found) => found.size), lanes: one.lanes.length };
}

function times(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

export function AccessPicture(props: { of: SharedAccess }) {
  const { of } = props;
  const [index, setIndex] = useState(0);
  const [selected, setSelected] = useState(0);
  const one = of.accesses[Math.min(index, of.accesses.length - 1)];
  const found = useMemo(() => (one ? pictureOf(one) : null), [one]);
  const { ideal } = of;
  const overfull = (bank: number): boolean => (found?.words[bank] ?? 0) > ideal;
  const fill = useCallback(
    (cell: number) => {
      if (!found?.cells.has(cell)) return "#8a93a01f";
      return overfull(cell % BANKS) ? "#e8877f" : "#7db7ea";
    },
    [found, ideal],
  );
  const caption = useCallback((cell: number) => (found?.cells.has(cell) ? String(cell % BANKS) : ""), [found]);
  if (!one || !found) return <p class="empty">No instruction accesses this buffer.</p>;
  const most = Math.max(...found.words);
  const lane = one.lanes[Math.floor(selected / BANKS)];
  return (
    <>
      <Message
        level={of.conflicts ? "bad" : "good"}
        title={of.conflicts ? `Bank conflicts: ${times(of.conflicts, "extra wavefront")}` : "No bank conflicts"}
        text={`${times(of.instructions, "instruction")} ${of.instruction} of a warp; each takes ${times(of.wavefronts, "wavefront")}, ${of.ideal} without conflicts`}
      />
      {of.accesses.length > 1 ? (
        <label class="field">
          <span>
            instruction {index + 1} of {of.accesses.length}
          </span>
          <input
            type="range"
            min={0}
            max={of.accesses.length - 1}
            value={index}
            aria-label="Instruction"
            onInput={(e) => setIndex(Number(e.currentTarget.value))}
          />
        </label>
      ) : null}
      <p class="tip">
        Rows are lanes of warp 0, columns the 32 banks. A bank gives one word of 4 bytes in a wavefront: the most words
        in one bank are {most}.
      </p>
      <p class="readout" aria-live="polite">
        {lane
          ? `lane ${lane.lane}: bytes ${lane.address} to ${lane.address + lane.bytes - 1}, banks ${lane.banks.join(", ")}; bank ${selected % BANKS} has ${times(found.words[selected % BANKS] ?? 0, "word")}`
          : ""}
      </p>
      <Grid
        label="Banks that each lane accesses"
        rows={found.lanes}
        columns={BANKS}
        selected={selected}
        fill={fill}
        caption={caption}
        onSelect={setSelected}
      />
      <div class="legend">
        <span>
          <i style={{ background: "#7db7ea" }} />
          accessed
        </span>
        <span>
          <i style={{ background: "#e8877f" }} />
          in a bank with more words than wavefronts are needed
        </span>
      </div>
    </>
  );
}
