"""The combine regions of reductions and scans, and their arrays in shared memory.

A row has one scalar per result: a thread's values for one element. `combine(left, right)` emits the region for two
rows, `left` for the earlier elements.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...analysis.combine import combine_of
from ...analysis.scratch_reduce import array_offsets
from ...ir import Type, element_type
from ...layout import LinearLayout
from ...layout.axis import Bit
from .context import WIDEST, FunctionContext
from .positions import linear_image, thread_of, with_constant
from .types import byte_width
from .warp import (
    element_at,
    load_elements,
    load_of_block,
    select,
    shuffle_by,
    shuffle_from,
    shuffle_xor,
    store_elements,
)

__all__ = [
    "Arrays",
    "CombineRegion",
    "Row",
    "Rows",
    "adjacent",
    "neighbour",
    "plus",
    "register_index",
    "thread_index",
    "times",
    "within",
]

Row = tuple[str, ...]
Rows = dict[int, Row]
"""By register."""


class CombineRegion:
    """The region of a `tt.reduce` or `tt.scan` `op`, and moves of its rows between lanes."""

    def __init__(self, e: FunctionContext, op: Any) -> None:
        self.e, self.op, self.block = e, op, op.combine.block
        self.types: list[Type] = [element_type(v.type) for v in op.srcs]
        self.facts = combine_of(self.block)

    def rows(self) -> list[Row]:
        """The operands' elements in each register of a thread."""
        return list(zip(*(self.e(v) for v in self.op.srcs)))

    def bind(self, rows: Sequence[Row]) -> None:
        """Give the results of the operation their registers."""
        for k, result in enumerate(self.op.results):
            self.e.bind(result, [row[k] for row in rows])

    def __call__(self, left: Row, right: Row) -> Row:
        """The region applied to two rows."""
        e = self.e
        for arg, operand in zip(self.block.args, (*left, *right)):
            e.bind(arg, [operand])
        debug = e.debug
        e.block_body(self.block)
        e.debug = debug
        return tuple(e.scalar(v) for v in self.block.last.operands)

    def alike(self, left: Row, right: Row) -> Row:
        """The region applied to rows that another lane has the other way round: with the same bits in both.

        Nothing is contracted with the producer of a row: lanes would contract differently.
        """
        module = self.e.module
        fusion, module.fusion = module.fusion, False
        try:
            return self(left, right)
        finally:
            module.fusion = fusion

    def tree(self, rows: Sequence[Row]) -> Row:
        """All rows combined, neighbours first."""
        rows = list(rows)
        while len(rows) > 1:
            pairs = [self(rows[i], rows[i + 1]) for i in range(0, len(rows) - 1, 2)]
            rows = pairs + rows[len(pairs) * 2 :]
        return rows[0]

    def select(self, condition: str, yes: Row, no: Row) -> Row:
        """The row `yes` where the i1 operand `condition` holds."""
        return tuple(select(self.e, condition, ty, a, b) for ty, a, b in zip(self.types, yes, no))

    def exchanged(self, rows: Rows, mask: int) -> Rows:
        """For each register the row of the lane that differs in the bits of `mask`."""
        return self._moved(rows, lambda elements: shuffle_xor(self.e, elements, mask))

    def taken(self, rows: Rows, lane: str) -> Rows:
        """For each register the row of `lane`."""
        return self._moved(rows, lambda elements: shuffle_from(self.e, elements, lane))

    def shifted(self, rows: Rows, distance: int) -> Rows:
        """For each register the row of the lane `distance` further up."""
        return self._moved(rows, lambda elements: shuffle_by(self.e, elements, distance))

    def _moved(self, rows: Rows, move: Any) -> Rows:
        flat = [(ty, v) for row in rows.values() for ty, v in zip(self.types, row)]
        moved = iter(move(flat))
        return {r: tuple(next(moved) for _ in self.types) for r in rows}


class Arrays:
    """One array for each operand in the scratch of an operation, of `elements` each."""

    def __init__(self, e: FunctionContext, op: Any, types: Sequence[Type], elements: int) -> None:
        self.e, self.types = e, types
        base = e.scratch(op)
        offsets = array_offsets(types, elements)
        self.bases = [_byte(e, base, at) for at in offsets[: len(types)]]

    def store(self, index: str, rows: Sequence[Row]) -> None:
        """Write rows from an index on, an i32 operand that is a multiple of their count, at most `most`."""
        for ty, base, column in zip(self.types, self.bases, zip(*rows)):
            store_elements(self.e, ty, column, element_at(self.e, base, ty, index))

    @property
    def most(self) -> int:
        """How many rows one access to each array can move."""
        return max(1, min(WIDEST // byte_width(ty) for ty in self.types))

    def load(self, index: str, count: int = 1) -> list[Row]:
        """The rows at an index and behind it; `index` is a multiple of `count`, a power of two."""
        columns = []
        for ty, base in zip(self.types, self.bases):
            columns.append(load_elements(self.e, ty, element_at(self.e, base, ty, index), count))
        return list(zip(*columns))

    def load_of(self, block: str, index: str) -> Row:
        """The row at an index in the arrays of another block of the cluster."""
        places = [element_at(self.e, base, ty, index) for ty, base in zip(self.types, self.bases)]
        return tuple(load_of_block(self.e, ty, at, block) for ty, at in zip(self.types, places))

    def load_all(self, bits: Sequence[Bit], other: str, first: bool, width: int) -> list[Row]:
        """The rows of one element for all values of `bits`, wherever they are; see `reduction.placed` for the rest."""
        e = self.e
        mask = sum(b.mask for b in bits if b.source == "block")
        own_bits = sum(b.source != "block" for b in bits)
        rows = []
        blocks: dict[int, str] = {}
        for n in range(1 << len(bits)):
            own, block = scattered(bits, n)
            if block not in blocks:
                blocks[block] = neighbour(e, mask, block)
            index = plus(e, times(e, other, own_bits), str(own)) if first else plus(e, str(own << width), other)
            rows.append(self.load_of(blocks[block], index))
        return rows


def neighbour(e: FunctionContext, mask: int, bits: int) -> str:
    """The number of the block of the cluster that is this one but for `mask`, where it has `bits`."""
    kept = e.op(f"and i32 {e.block_id}, {e.module.num_ctas - 1 & ~mask}")
    return e.op(f"or i32 {kept}, {bits}") if bits else kept


def scattered(bits: Sequence[Bit], index: int) -> tuple[int, int]:
    """What an index whose bits stand for `bits` says: the index among those of the block itself, and the block's bits.

    The first counts the bits that are not of blocks, in their order.
    """
    own = block = at = 0
    for i, b in enumerate(bits):
        value = index >> i & 1
        if b.source == "block":
            block |= b.mask * value
        else:
            own |= value << at
            at += 1
    return own, block


def _byte(e: FunctionContext, base: str, offset: int) -> str:
    if not offset:
        return base
    out = e.op(f"getelementptr i8, ptr addrspace(3) {base}, i32 {offset}")
    e.multiples[out] = min(e.multiple_of(base), e.multiple_of(str(offset)))
    return out


def thread_index(e: FunctionContext, layout: LinearLayout) -> tuple[str, int]:
    """What this thread contributes to the "index" of a layout, and the bits that this may have."""
    threads = {name: v for name, v in thread_of(e).items() if name in layout.ins}
    bits = 0
    for name in threads:
        for column in layout.columns_of(name):
            bits |= column
    index = linear_image(e, layout, threads)["index"]
    if bits:
        e.multiples[index] = bits & -bits
    return index, bits


def register_index(e: FunctionContext, layout: LinearLayout, thread: tuple[str, int], register: int) -> str:
    """The "index" of a register, given what the thread contributes."""
    return with_constant(e, *thread, layout.apply(register=register)["index"])


def adjacent(layout: LinearLayout, bits: int, registers: Iterable[int], most: int) -> list[list[int]]:
    """Registers in groups of at most `most`, a power of two, whose indices are consecutive and begin at a multiple.

    `bits` are those that the thread contributes to an index (`thread_index`).

    >>> layout = LinearLayout({"register": [(1,), (2,), (8,)]}, {"index": 16})
    >>> adjacent(layout, 4, range(8), 4), adjacent(layout, 2, range(4), 4)
    ([[0, 1, 2, 3], [4, 5, 6, 7]], [[0, 1], [2, 3]])
    """
    at = {layout.apply(register=r)["index"]: r for r in registers}
    out = []
    for index in list(at):
        if index not in at:
            continue
        count = min(most, bits & -bits or most)
        while any((index & -count) + i not in at for i in range(count)):
            count >>= 1
        out.append([at.pop((index & -count) + i) for i in range(count)])
    return out


def within(e: FunctionContext, wanted: Mapping[str, tuple[int, int]]) -> str | None:
    """Whether of this thread's lane and warp the bits of a mask are as given: {"lane": (mask, value)}.

    An i1 operand; None where nothing is asked.
    """
    tests = []
    for name, (mask, value) in wanted.items():
        if mask:
            bits = thread_of(e)[name]
            if name != "lane" or mask != e.module.warp_size - 1:
                bits = e.op(f"and i32 {bits}, {mask}")
            tests.append(e.op(f"icmp eq i32 {bits}, {value}"))
    if not tests:
        return None
    test = tests[0]
    for more in tests[1:]:
        test = e.op(f"and i1 {test}, {more}")
    return test


def times(e: FunctionContext, operand: str, bits: int) -> str:
    """operand << bits"""
    if operand.isdigit():
        return str(int(operand) << bits)
    if not bits:
        return operand
    out = e.op(f"shl nuw nsw i32 {operand}, {bits}")
    e.multiples[out] = e.multiple_of(operand) << bits
    return out


def plus(e: FunctionContext, left: str, right: str) -> str:
    """The sum of two operands that have no bit in common."""
    if left == "0" or right == "0":
        return right if left == "0" else left
    out = e.op(f"or disjoint i32 {left}, {right}")
    e.multiples[out] = min(e.multiple_of(left), e.multiple_of(right))
    return out
