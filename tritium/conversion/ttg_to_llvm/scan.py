"""`tt.scan`: within a thread, then among the lanes of a warp, then behind what other warps and registers hold.

What is done where is planned in `layout.scan`. A running sum of 1024 elements by four warps, 4 neighbours a thread:

    each thread          2 x 3 additions                      for each of its two groups of neighbours
    each warp            2 x 5 x (shfl.sync.up, addition)     the totals of lanes before, then of the lane before alone
    last lane of a warp  two stores                           8 totals in shared memory
    all                  one barrier
    each thread          two 16-byte loads, 7 additions       what comes before its warp, in each group

Nothing is assumed of the function but that it is associative: what comes first always stands on the left. Where there
is nothing before, the function's neutral element stands there if it is known to have one; else results are selected.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

from ...analysis.scratch_reduce import scan_of
from ...dialects import tt
from ...ir import FloatType, IntegerType, Type
from ...layout import LinearLayout
from ...layout.axis import Bit
from ...layout.reduction import placed
from ...layout.scan import Scan
from ...support.dataclasses import dataclass
from ..llvm.branches import guarded
from .combine_region import (
    Arrays,
    CombineRegion,
    Row,
    Rows,
    adjacent,
    plus,
    register_index,
    thread_index,
    times,
    within,
)
from .context import FunctionContext, lowers
from .convert_layout import wait_for

__all__: list[str] = []


@lowers(tt.Scan)
def _scan(e: FunctionContext, op: tt.Scan) -> None:
    plan = scan_of(op)
    combine = CombineRegion(e, op)
    arrays = Arrays(e, op, combine.types, plan.elements()) if plan.elements() else None
    parts = combine.rows()
    copies = plan.axis.masks("copies")["register"]
    rows: Rows = {r: row for r, row in enumerate(parts) if not r & copies}
    _Scanning(e, combine, plan, op.reverse, arrays).scan(rows)
    combine.bind([rows[r & ~copies] for r in range(len(parts))])


@dataclass(frozen=True)
class _Before:
    """What comes before an element, combined: `there` is an i1 operand that says whether there is anything.

    True: always; False: never, then there is no row.
    """

    row: Row
    there: str | bool


_NOTHING = _Before((), False)
_Prefix = tuple[int, int, Row]
"""The registers of a group, its bits that are not registers, and all groups before it, combined."""


class _Scanning:
    """The steps of one scan; `reverse` starts from the end."""

    def __init__(
        self, e: FunctionContext, combine: CombineRegion, plan: Scan, reverse: bool, arrays: Arrays | None
    ) -> None:
        self.e, self.combine, self.plan, self.reverse, self.arrays = e, combine, plan, reverse, arrays
        self.lane_mask = sum(b.mask for b in plan.lanes)
        self.neutral = _neutral(combine)

    def scan(self, rows: Rows) -> None:
        """Replace each row by all rows up to it, combined."""
        leading = self._ordered([b.mask for b in self.plan.leading])
        groups = self._ordered([b.mask if b.source == "register" else 0 for b in self.plan.tail])
        groups = list(dict.fromkeys(groups))
        taken = sum(b.mask for b in self.plan.axis.along if b.source == "register")
        bases = [r for r in rows if not r & taken]
        chains = {base | g: [base | g | k for k in leading] for base in bases for g in groups}
        for chain in chains.values():
            for left, right in itertools.pairwise(chain):
                rows[right] = self.combine(rows[left], rows[right])
        totals = self._among_lanes({first: rows[chain[-1]] for first, chain in chains.items()})
        previous = self._of_lane_before(totals) if len(leading) > 1 else {}
        before = self._before_groups(totals, bases, groups)
        for first, chain in chains.items():
            own = self._join(before[first], previous[first]) if previous else before[first]
            for r in chain[:-1]:
                rows[r] = self._behind(own, rows[r])
            rows[chain[-1]] = self._behind(before[first], totals[first])

    def _ordered(self, masks: Sequence[int]) -> list[int]:
        """All sums of masks, the first ones changing fastest, in the order of the scan."""
        out = [sum(m for i, m in enumerate(masks) if n >> i & 1) for n in range(1 << len(masks))]
        return out[::-1] if self.reverse else out

    # -- what comes before --------------------------------------------------------------------------------------------

    def _behind(self, before: _Before, row: Row) -> Row:
        """The row, and what comes before it where there is something."""
        if before.there is False:
            return row
        both = self.combine(before.row, row)
        return both if isinstance(before.there, bool) else self.combine.select(before.there, both, row)

    def _join(self, first: _Before, second: _Before) -> _Before:
        """The exclusive prefix, in two parts."""
        if first.there is False or second.there is False:
            return second if first.there is False else first
        row = self.combine(first.row, second.row)
        if isinstance(second.there, str):
            row = self.combine.select(second.there, row, first.row)
        if isinstance(first.there, str):
            row = self.combine.select(first.there, row, second.row)
        if isinstance(first.there, str) and isinstance(second.there, str):
            return _Before(row, self.e.op(f"or i1 {first.there}, {second.there}"))
        return _Before(row, True)

    def _perhaps(self, row: Row, there: str | bool) -> _Before:
        """A row that counts where `there`; always, if the function has a neutral element to put in its place."""
        if isinstance(there, str) and self.neutral is not None:
            return _Before(self.combine.select(there, row, self.neutral), True)
        return _Before(row, there)

    # -- lanes --------------------------------------------------------------------------------------------------------

    def _among_lanes(self, totals: Rows) -> Rows:
        """For each lane the totals of all lanes up to it, combined."""
        for bit in self.plan.lanes:
            takes, found = (self._step_in_a_row if self._in_a_row() else self._step)(bit, totals)
            both = {r: self.combine(found[r], row) for r, row in totals.items()}
            totals = {r: self.combine.select(takes, both[r], row) for r, row in totals.items()}
        return totals

    def _in_a_row(self) -> bool:
        """Whether lanes stand side by side in the order of the scan: their distance is then a number."""
        bits = [b.bit for b in self.plan.lanes]
        return bits == list(range(bits[0], bits[0] + len(bits)))

    def _step_in_a_row(self, bit: Bit, totals: Rows) -> tuple[str, Rows]:
        """Each lane combines the prefix of the lane that far before it with its own."""
        e, mask = self.e, self.lane_mask
        here = e.lane if mask == e.module.warp_size - 1 else e.op(f"and i32 {e.lane}, {mask}")
        if self.reverse:
            return e.op(f"icmp ule i32 {here}, {mask - bit.mask}"), self.combine.shifted(totals, bit.mask)
        return e.op(f"icmp uge i32 {here}, {bit.mask}"), self.combine.shifted(totals, -bit.mask)

    def _step(self, bit: Bit, totals: Rows) -> tuple[str, Rows]:
        """Lanes whose bit is set take what the last lane before that bit knows, which are all with the bit clear.

        So do those whose bit is clear, from behind, when the scan goes the other way.
        """
        e = self.e
        done = self.lane_mask & (bit.mask - 1)
        kept = e.op(f"and i32 {e.lane}, {e.module.warp_size - 1 & ~(bit.mask | done)}")
        lane = e.op(f"or i32 {kept}, {bit.mask if self.reverse else done}")
        takes = within(e, {"lane": (bit.mask, 0 if self.reverse else bit.mask)})
        assert takes is not None
        return takes, self.combine.taken(totals, lane)

    def _of_lane_before(self, totals: Rows) -> dict[int, _Before]:
        """The totals up to the lane before this one."""
        if not self.lane_mask:
            return dict.fromkeys(totals, _NOTHING)
        first = within(self.e, {"lane": (self.lane_mask, self.lane_mask if self.reverse else 0)})
        there = self.e.op(f"xor i1 {first}, true")
        if self._in_a_row():
            step = self.plan.lanes[0].mask
            found = self.combine.shifted(totals, step if self.reverse else -step)
        else:
            found = self.combine.taken(totals, self._lane_before())
        return {r: self._perhaps(row, there) for r, row in found.items()}

    def _lane_before(self) -> str:
        """The number of the lane before this one: the masked bits counted down, or up; any for the first."""
        e, mask, rest = self.e, self.lane_mask, self.e.module.warp_size - 1 & ~self.lane_mask
        if self.reverse:
            following = e.op(f"add i32 {e.op(f'or i32 {e.lane}, {rest}')}, 1")
        else:
            following = e.op(f"sub i32 {e.op(f'and i32 {e.lane}, {mask}')}, 1")
        lane = e.op(f"and i32 {following}, {mask}")
        return e.op(f"or i32 {lane}, {e.op(f'and i32 {e.lane}, {rest}')}") if rest else lane

    # -- groups -------------------------------------------------------------------------------------------------------

    def _before_groups(self, totals: Rows, bases: list[int], groups: list[int]) -> dict[int, _Before]:
        """The exclusive prefix of the group of each register, for this thread."""
        if not self.plan.tail:
            return dict.fromkeys(totals, _NOTHING)
        if self.plan.through_memory:
            return self._through_memory(totals, bases)
        if self.lane_mask:
            e = self.e
            if self.reverse:
                last = e.op(f"and i32 {e.lane}, {e.module.warp_size - 1 & ~self.lane_mask}")
            else:
                last = e.op(f"or i32 {e.lane}, {self.lane_mask}")
            totals = self.combine.taken(totals, last)
        out = {}
        for base in bases:
            before = _NOTHING
            for g in groups:
                out[base | g] = before
                before = _Before(self._behind(before, totals[base | g]), True)
        return out

    def _through_memory(self, totals: Rows, bases: list[int]) -> dict[int, _Before]:
        e, plan, arrays = self.e, self.plan, self.arrays
        assert arrays is not None
        self._write(totals, arrays)
        wait_for(e, "cluster" if plan.crosses_blocks else "block")
        index = placed(plan.source, plan.axis.axis, (), True)
        thread = thread_index(e, index)
        own = thread_index(e, _tail_of_thread(plan))[0]
        prefixes = {base: self._running(self._reader(register_index(e, index, thread, base), arrays)) for base in bases}
        here: dict[int, str] = {}
        chosen: dict[int, _Before] = {}
        for base, (registers, threads, before) in self._interleaved(prefixes):
            first = base | registers
            if threads not in here and (first in chosen or not before):
                here[threads] = e.op(f"icmp eq i32 {own}, {threads}")
            chosen[first] = self._choose(chosen.get(first), before, here.get(threads, ""))
        out = {first: self._perhaps(b.row, b.there) if b.row else _NOTHING for first, b in chosen.items()}
        if plan.crosses_blocks:  # nobody overwrites, or leaves, what others still read
            wait_for(e, "cluster")
        return out

    def _interleaved(self, prefixes: dict[int, Iterator[_Prefix]]) -> Iterator[tuple[int, _Prefix]]:
        """The prefixes of all elements: group by group where a group's totals of several elements are adjacent.

        The loads of adjacent totals become one vector load, at the first of them. Element by element, the vector loads
        of all groups would then precede the combinations of the second element, and all totals be live at once.
        """
        if self.plan.tail_first or self.plan.crosses_blocks:
            yield from ((base, prefix) for base, running in prefixes.items() for prefix in running)
        else:
            for group in zip(*prefixes.values()):
                yield from zip(prefixes, group)

    def _running(self, read: Callable[[int], Row]) -> Iterator[_Prefix]:
        """The prefix of each group in the order of the scan; `read` loads the total of a group."""
        before: Row = ()
        count = 1 << len(self.plan.tail)
        for n in range(count):
            k = count - 1 - n if self.reverse else n
            registers, threads = _parts(self.plan.tail, k)
            yield registers, threads, before
            if n < count - 1:
                total = read(k)
                before = self.combine(before, total) if before else total

    def _choose(self, chosen: _Before | None, before: Row, here: str) -> _Before:
        """What was chosen of the prefixes of earlier threads, or `before` in the thread for which the i1 `here` holds.

        The first prefix is empty: what follows counts in all other threads.
        """
        if not before:
            return _Before((), self.e.op(f"xor i1 {here}, true"))
        if chosen is None or not chosen.row:
            return _Before(before, True if chosen is None else chosen.there)
        return _Before(self.combine.select(here, before, chosen.row), chosen.there)

    def _write(self, totals: Rows, arrays: Arrays) -> None:
        e, plan = self.e, self.plan
        layout = placed(plan.source, plan.axis.axis, plan.tail, plan.tail_first)
        thread = thread_index(e, layout)
        copies = plan.axis.masks("copies")
        last = 0 if self.reverse else self.lane_mask
        wanted = {"lane": (copies["lane"] | self.lane_mask, last), "warp": (copies["warp"], 0)}
        groups = adjacent(layout, thread[1], totals, arrays.most)
        indices = [register_index(e, layout, thread, group[0]) for group in groups]
        with guarded(e, within(e, wanted)):
            for index, group in zip(indices, groups):
                arrays.store(index, [totals[r] for r in group])

    def _reader(self, other: str, arrays: Arrays) -> Callable[[int], Row]:
        """A function that loads the total of a group of an element; adjacent totals are loaded at once."""
        e, plan, count = self.e, self.plan, len(self.plan.tail)
        if plan.crosses_blocks:
            return _lazy(lambda: arrays.load_all(plan.tail, other, plan.tail_first, plan.width))
        if plan.tail_first:
            return _lazy(lambda: arrays.load(times(e, other, count), 1 << count))
        return lambda k: arrays.load(plus(e, str(k << plan.width), other))[0]


def _lazy(load: Callable[[], list[Row]]) -> Callable[[int], Row]:
    """Access to rows that are loaded when the first is wanted."""
    rows: list[Row] = []

    def read(k: int) -> Row:
        if not rows:
            rows.extend(load())
        return rows[k]

    return read


def _parts(tail: Sequence[Bit], index: int) -> tuple[int, int]:
    """The registers that an index of the tail stands for, and its bits that are not registers."""
    registers = threads = 0
    for i, b in enumerate(tail):
        if index >> i & 1:
            registers |= b.mask if b.source == "register" else 0
            threads |= 1 << i if b.source != "register" else 0
    return registers, threads


def _tail_of_thread(plan: Scan) -> LinearLayout:
    """From lanes and warps to the bits of the tail's index that they say."""
    at = {(b.source, b.bit): 1 << i for i, b in enumerate(plan.tail) if b.source != "register"}
    bases = {
        name: [(at.get((name, i), 0),) for i in range(size.bit_length() - 1)]
        for name, size in plan.source.ins.items()
        if name != "register"
    }
    return LinearLayout(bases, {"index": 1 << len(plan.tail)})


# -- neutral elements -------------------------------------------------------------------------------------------------

_NEUTRAL_INTEGERS = {"arith.addi": 0, "arith.muli": 1, "arith.andi": -1, "arith.ori": 0, "arith.xori": 0}
_NEUTRAL_FLOATS = {
    "arith.addf": {"f16": "0xH8000", "bf16": "0xR8000", "f32": "-0.0", "f64": "-0.0"},
    "arith.mulf": {"f16": "0xH3C00", "bf16": "0xR3F80", "f32": "1.0", "f64": "1.0"},
}


def _neutral(combine: CombineRegion) -> Row | None:
    """The row that changes nothing, for a region that is one operation; minus zero for sums, so that signs stay."""
    types: list[Type] = combine.types
    name = combine.facts.operation
    if len(types) != 1 or name is None:
        return None
    (ty,) = types
    if isinstance(ty, IntegerType) and ty.width > 1 and name in _NEUTRAL_INTEGERS:
        return (str(_NEUTRAL_INTEGERS[name]),)
    if isinstance(ty, FloatType):
        found = _NEUTRAL_FLOATS.get(name, {}).get(ty.name)
        return None if found is None else (found,)
    return None
