"""Plan MMA and FMA instructions for a dot from the layouts of its tensors.

An MMA instruction reads its operands from all lanes of a warp, each from certain registers of certain lanes: its
fragments (PTX ISA 8.7, section 9.7.14.5). A tensor's layout says which register of which lane holds which element.
Where the layout matches the fragments, a dot is a list of such instructions, and it remains to find the registers.
`plan_mma` does that by querying the linear maps: nothing here knows the name of a layout, and several are supported,
since an instruction need not see the tensor as it is:

- the order of elements along K is free, if it is the same for both operands; so any registers that move along K may be
  used for the instruction's;
- rows 8 to 15 of an instruction may be any other rows;
- where a tensor is shorter than an instruction along K, the rest of the operands is zero.

Sizes are in elements. `width`: adjacent elements along K in a 32-bit register (1 for f64); `doublings`: the binary
logarithm of the instruction's depth along K over that of four lanes times `width`. Registers of fragments, lowest bit
of their index first, followed by the lanes (w = width):

| operand | registers | lanes |
|---|---|---|
| a, M x K | k by 1 … w/2; m by 8; k by 4w, 8w … | k by w, 2w; m by 1, 2, 4 |
| b, K x N | k by 1 … w/2; k by 4w, 8w … | k by w, 2w; n by 1, 2, 4 |
| c and d, M x N | n by 1; m by 8 | n by 2, 4; m by 1, 2, 4 |
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from ..support.dataclasses import dataclass
from .linear import LinearLayout

__all__ = [
    "FmaStep",
    "MmaPlan",
    "MmaStep",
    "OperandRegisters",
    "copies_of",
    "fragment",
    "plan_fma",
    "plan_mma",
    "span",
]

_BATCH, _ROW, _COLUMN = 0, 1, 2
"""Dimensions of operands and results, the batch first; K is the column of a and the row of b."""


def fragment(operand: str, width: int, doublings: int, rows: int = 16) -> LinearLayout:
    """The fragment of operand "a", "b" or "d" of an instruction of `rows` rows: register, lane -> dim0, dim1.

    >>> print(fragment("d", 1, 0, 8))
    register: 1 -> (0, 1); lane: 1 -> (0, 2), 2 -> (0, 4), 4 -> (1, 0), 8 -> (2, 0), 16 -> (4, 0) in (dim0: 8, dim1: 8)
    """
    packed = [1 << i for i in range(width.bit_length() - 1)]
    along = [width, 2 * width]
    half = [4 * width << i for i in range(doublings)]
    eight = [(8, 0)] if rows == 16 else []
    depth = 4 * width << doublings
    if operand == "d":
        registers = [(0, 1), *eight]
        return LinearLayout({"register": registers, "lane": [(0, 2), (0, 4), *_rows()]}, {"dim0": rows, "dim1": 8})
    if operand == "a":
        registers = [*((0, k) for k in packed), *eight, *((0, k) for k in half)]
        return LinearLayout(
            {"register": registers, "lane": [*((0, k) for k in along), *_rows()]}, {"dim0": rows, "dim1": depth}
        )
    lanes = [*((k, 0) for k in along), (0, 1), (0, 2), (0, 4)]
    return LinearLayout({"register": [(k, 0) for k in [*packed, *half]], "lane": lanes}, {"dim0": depth, "dim1": 8})


def _rows() -> list[tuple[int, int]]:
    return [(1, 0), (2, 0), (4, 0)]


@dataclass(frozen=True)
class MmaStep:
    """One instruction: the tensor's registers for those of its fragments, None for zero.

    `d` are read and written; where the result is smaller than the instruction, a register occurs more than once.
    """

    a: tuple[int | None, ...]
    b: tuple[int | None, ...]
    d: tuple[int, ...]


@dataclass(frozen=True)
class MmaPlan:
    """The instructions of a dot, those for one place of the result in the order of K.

    `steps_along_k`: the number of instructions for each place of the result. `idle`: bits of the lane that must be zero
    for the lane to take part; operands of other lanes must be zero.
    """

    steps: tuple[MmaStep, ...]
    steps_along_k: int
    idle: int


class OperandRegisters:
    """A layout's registers by the dimensions they move along: for each {vector: bit of the register index}."""

    def __init__(self, layout: LinearLayout, name: str) -> None:
        self.name = name
        bases = layout.bases
        pad = 3 - len(layout.outs)
        self.bases = {key: [(0,) * pad + tuple(v) for v in vectors] for key, vectors in bases.items()}
        self.registers: tuple[dict[int, int], ...] = ({}, {}, {})
        for bit, vector in enumerate(self.bases["register"]):
            moving = [d for d in range(3) if vector[d]]
            if len(moving) > 1:
                raise ValueError(f"a register of operand {name} moves along several dimensions")
            if moving:
                self.registers[moving[0]].setdefault(vector[moving[0]], 1 << bit)
        self.numbers = [_numbers(vectors) for vectors in self.registers]

    def register(self, batch: int, row: int, column: int) -> int:
        """The register that holds this place, relative to the thread's first."""
        batches, rows, columns = self.numbers
        return batches[batch] | rows[row] | columns[column]

    def moves(self, key: str, dim: int) -> list[int]:
        """How the bits of the lane or the warp move along one dimension."""
        return [v[dim] for v in self.bases.get(key, [])]


def _agree(p: OperandRegisters, result: OperandRegisters, dim: int, what: str, but: int = 0) -> None:
    """Check that an operand and the result move alike along a dimension, by warp and block, and in registers.

    `but` excludes registers of the result, and lanes of the operand.
    """
    for key in ("warp", "block"):
        if p.moves(key, dim) != result.moves(key, dim):
            raise ValueError(f"{p.name} and {result.name} are distributed over {key}s differently along {what}")
    if set(p.registers[dim]) != set(result.registers[dim]) - {but}:
        raise ValueError(f"registers of {p.name} and {result.name} hold different places along {what}")


def _same_lanes(p: list[int], q: list[int], what: str) -> None:
    if p != q:
        raise ValueError(f"lanes hold {p} along {what}, where the instruction needs {q}")


def span(vectors: dict[int, int], but: Sequence[int] = ()) -> list[int]:
    """All exclusive ors of the vectors, except for those in `but`, the first vector fastest."""
    out = [0]
    for v in vectors:
        if v not in but:
            out += [v ^ other for other in out]
    return out


def _numbers(vectors: dict[int, int]) -> dict[int, int]:
    """For every exclusive or of the vectors, the exclusive or of their register indices."""
    out = {0: 0}
    for vector, bit in vectors.items():
        out |= {place ^ vector: number | bit for place, number in out.items()}
    return out


def plan_mma(a: LinearLayout, b: LinearLayout, d: LinearLayout, width: int, doublings: int, rows: int = 16) -> MmaPlan:
    """The instructions for d += a @ b; `ValueError` says what does not match the fragments.

    Layouts have two dimensions, or three with a leading batch.
    """
    pa, pb, pd = OperandRegisters(a, "a"), OperandRegisters(b, "b"), OperandRegisters(d, "d")
    for key in ("warp", "block"):
        if any(pa.moves(key, _COLUMN)) or any(pb.moves(key, _ROW)):
            raise ValueError(f"operands are distributed over {key}s along K")
    columns = pb.moves("lane", _COLUMN)
    _agree(pa, pd, _ROW, "rows")
    _agree(pb, pd, _COLUMN, "columns", columns[2])
    _agree(pa, pd, _BATCH, "the batch")
    _agree(pb, pd, _BATCH, "the batch")
    for p in (pa, pb, pd):
        _same_lanes(p.moves("lane", _BATCH), [0] * 5, "the batch")
    if set(pa.registers[_COLUMN]) != set(pb.registers[_ROW]):
        raise ValueError("registers of a and b hold different places along K")
    along_k = pa.moves("lane", _COLUMN)
    _same_lanes(along_k[2:], [0, 0, 0], "K")
    _same_lanes(pb.moves("lane", _ROW), along_k, "K")
    _same_lanes(pa.moves("lane", _ROW), pd.moves("lane", _ROW), "rows")
    _same_lanes(pa.moves("lane", _ROW)[:2], [0, 0], "rows")
    _same_lanes(columns[:2], [0, 0], "columns")
    _same_lanes(pd.moves("lane", _COLUMN), [*columns[3:], 0, 0, 0], "columns")
    return _plan(pa, pb, pd, _Shape(pa, pd, columns[2], width, doublings, rows))


class _Shape:
    """The vectors of the instruction: `k` of registers along K, `row` for 8 rows, `column` for 1."""

    def __init__(
        self, a: OperandRegisters, d: OperandRegisters, column: int, width: int, doublings: int, rows: int
    ) -> None:
        vectors = list(a.registers[_COLUMN])
        needed = width.bit_length() - 1 + doublings
        self.k: list[int | None] = [*vectors[:needed], *[None] * (needed - len(vectors))]
        self.packed = width.bit_length() - 1
        self.row: int | None = None if rows == 8 else next(iter(a.registers[_ROW]), 0)
        self.column = column
        self.idle = sum(1 << i for i, v in enumerate(a.moves("lane", _COLUMN)[:2]) if not v)
        if column and column not in d.registers[_COLUMN]:
            raise ValueError("adjacent columns of the result are not in one thread")


def _plan(pa: OperandRegisters, pb: OperandRegisters, pd: OperandRegisters, shape: _Shape) -> MmaPlan:
    used = [v for v in shape.k if v is not None]
    along_k = span(pa.registers[_COLUMN], used)
    rows = span(pd.registers[_ROW], [shape.row] if shape.row else [])
    columns = span(pd.registers[_COLUMN], [shape.column] if shape.column else [])
    low, high = shape.k[: shape.packed], shape.k[shape.packed :]
    eight = [] if shape.row is None else [shape.row]
    steps = []
    for batch, k, row, column in itertools.product(span(pd.registers[_BATCH]), along_k, rows, columns):
        a = [None if at is None else pa.register(batch, row ^ more, k ^ at) for at, more in _places(low, eight, high)]
        b = [None if at is None else pb.register(batch, k ^ at, column) for at, _ in _places(low, [], high)]
        d = [pd.register(batch, row ^ more, column ^ at) for at, more in _result_places(shape.column, eight)]
        steps.append(MmaStep(tuple(a), tuple(b), tuple(d)))
    return MmaPlan(tuple(steps), len(along_k), shape.idle)


def _places(
    low: Sequence[int | None], rows: Sequence[int], high: Sequence[int | None]
) -> Iterator[tuple[int | None, int]]:
    """(along K, along the rows) of each register of a fragment, in order; None where K is too short for it."""
    bits: list[tuple[int | None, int]] = [*((v, 0) for v in low), *((0, v) for v in rows), *((v, 0) for v in high)]
    for number in range(1 << len(bits)):
        at: int | None = 0
        row = 0
        for i, (k, r) in enumerate(bits):
            if number >> i & 1:
                at = None if at is None or k is None else at ^ k
                row ^= r
        yield at, row


def _result_places(column: int, rows: Sequence[int]) -> Iterator[tuple[int, int]]:
    for more in [0, *rows]:
        yield 0, more
        yield column, more


def copies_of(layout: LinearLayout) -> int:
    """The bits of a register index that do not affect which element it holds."""
    return sum(1 << i for i, column in enumerate(layout.columns_of("register")) if not column)


@dataclass(frozen=True)
class FmaStep:
    """One element of the result in register `d`: the sum over K of the products of registers of `a` and `b`."""

    d: int
    a: tuple[int, ...]
    b: tuple[int, ...]


def plan_fma(a: LinearLayout, b: LinearLayout, d: LinearLayout) -> list[FmaStep]:
    """The sums of products for d += a @ b in which no thread needs another's registers.

    Each thread must hold all of K for its rows and columns: `ValueError` where it does not. Registers of d with copies
    have no step of their own.
    """
    pa, pb, pd = OperandRegisters(a, "a"), OperandRegisters(b, "b"), OperandRegisters(d, "d")
    for key in ("lane", "warp", "block"):
        if any(pa.moves(key, _COLUMN)) or any(pb.moves(key, _ROW)):
            raise ValueError(f"operands are distributed over {key}s along K")
        for p, dim in ((pa, _BATCH), (pa, _ROW), (pb, _BATCH), (pb, _COLUMN)):
            if p.moves(key, dim) != pd.moves(key, dim):
                raise ValueError(f"operand {p.name} and the result are distributed over {key}s differently")
    along_k = sorted(span(pa.registers[_COLUMN]))
    if along_k != sorted(span(pb.registers[_ROW])):
        raise ValueError("registers of a and b hold different places along K")
    out = []
    places = itertools.product(*(span(table) for table in pd.registers))
    for batch, row, column in places:
        lhs = tuple(pa.register(batch, row, k) for k in along_k)
        rhs = tuple(pb.register(batch, k, column) for k in along_k)
        out.append(FmaStep(pd.register(batch, row, column), lhs, rhs))
    return out
