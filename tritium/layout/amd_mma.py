"""Plan MFMA and WMMA instructions for a dot from the layouts of its tensors.

As in `mma`, the layouts are asked for their linear maps: which register of which lane holds which element. An
instruction reads `width` elements along K of each lane and adds to some registers of the result:

- the order of elements along K is free, if it is the same for both operands: an instruction takes the first registers
  that move along K, whatever their distance, and the others are further instructions;
- registers of the result that one instruction writes are those that move along its rows by `vectors`;
- where a tensor is shorter than an instruction along K, the rest of the operands is zero; where it has fewer rows or
  columns, lanes and registers hold copies.

Where `transposed`, the instruction computes the transpose of the result: its operands change places.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from ..support.dataclasses import dataclass
from .linear import LinearLayout
from .mma import OperandRegisters, span

__all__ = ["MatrixPlan", "MatrixStep", "plan_matrix", "result_vectors"]

_BATCH, _ROW, _COLUMN = 0, 1, 2


@dataclass(frozen=True)
class MatrixStep:
    """One instruction: registers of `a` and `b` (None for zero), and those of the result that it reads and writes.

    `a` and `b` are the tensors', whatever the order of the instruction's operands.
    """

    a: tuple[int | None, ...]
    b: tuple[int | None, ...]
    d: tuple[int, ...]


@dataclass(frozen=True)
class MatrixPlan:
    """The instructions of a dot, by k: those for all places of the result, then the next k.

    `idle`: bits of the lane that must be zero for the lane to take part; operands of other lanes must be zero.
    """

    steps: tuple[MatrixStep, ...]
    idle: int


def result_vectors(kind: str, rows: int, bits: int = 32) -> tuple[int, ...]:
    """How the registers that an instruction of `kind` "mfma", "wmma1" or "wmma2" writes move along its `rows`.

    `bits` of an element of the result. See `amd` for the lanes.

    >>> result_vectors("mfma", 32), result_vectors("mfma", 16, 64), result_vectors("wmma1", 16)
    ((1, 2, 8, 16), (4, 8), (2, 4, 8))
    """
    if kind == "wmma1":
        return 2, 4, 8
    if kind == "wmma2":
        return 1, 2, 4
    if bits == 64:
        return 4, 8
    return (1, 2, 8, 16) if rows == 32 else (1, 2)


def plan_matrix(
    a: LinearLayout,
    b: LinearLayout,
    d: LinearLayout,
    width: int,
    vectors: Sequence[int],
    transposed: bool,
    side: int,
) -> MatrixPlan:
    """The instructions for d += a @ b; `ValueError` says what does not match the instruction.

    `vectors`: see `result_vectors`. The first `side` lanes of a wave are along rows or columns of an operand, higher
    bits of the lane along K; a `side` of all lanes: both halves hold the same operands, as WMMA of gfx11 wants it.
    Layouts have two dimensions, or three with a leading batch.
    """
    pa, pb, pd = OperandRegisters(a, "a"), OperandRegisters(b, "b"), OperandRegisters(d, "d")
    down = _COLUMN if transposed else _ROW
    own = {dim: [v for v in vectors if dim == down and v in pd.registers[dim]] for dim in (_BATCH, _ROW, _COLUMN)}
    for p, dim, what in ((pa, _ROW, "rows"), (pb, _COLUMN, "columns"), (pa, _BATCH, "batch"), (pb, _BATCH, "batch")):
        _check(p, pd, dim, own[dim], what)
    along_k = pa.registers[_COLUMN]
    if list(along_k) != list(pb.registers[_ROW]) or pa.moves("lane", _COLUMN) != pb.moves("lane", _ROW):
        raise ValueError("a and b hold different places along K")
    for key in ("warp", "block"):
        if any(pa.moves(key, _COLUMN)) or any(pb.moves(key, _ROW)):
            raise ValueError(f"operands are distributed over {key}s along K")
    along = pa.moves("lane", _COLUMN)
    idle = sum(1 << i for i in range(side.bit_length() - 1, len(along)) if not along[i])
    needed = width.bit_length() - 1
    inner: list[int | None] = [*list(along_k)[:needed], *[None] * (needed - len(along_k))]
    return MatrixPlan(tuple(_steps(pa, pb, pd, inner, own, _places_of(vectors, own[down]), down)), idle)


def _check(p: OperandRegisters, result: OperandRegisters, dim: int, own: Sequence[int], what: str) -> None:
    """Check that an operand and the result are distributed alike along a dimension, but for an instruction's rows."""
    for key in ("warp", "block"):
        if p.moves(key, dim) != result.moves(key, dim):
            raise ValueError(f"{p.name} and {result.name} are distributed over {key}s differently along the {what}")
    if set(p.registers[dim]) != set(result.registers[dim]) - set(own):
        raise ValueError(f"registers of {p.name} and {result.name} hold different places along the {what}")


def _places_of(vectors: Sequence[int], own: Sequence[int]) -> list[int]:
    """The place along the rows of each register that an instruction writes; of missing rows the first one's."""
    places = [0]
    for v in vectors:
        places += [place ^ (v if v in own else 0) for place in places]
    return places


def _steps(
    pa: OperandRegisters,
    pb: OperandRegisters,
    pd: OperandRegisters,
    inner: Sequence[int | None],
    own: dict[int, list[int]],
    written: Sequence[int],
    down: int,
) -> list[MatrixStep]:
    used = [v for v in inner if v is not None]
    depths = span(pa.registers[_COLUMN], used)
    tiles = list(itertools.product(*(span(pd.registers[dim], own[dim]) for dim in (_BATCH, _ROW, _COLUMN))))
    within = _k_places(inner)
    steps = []
    for k, (batch, row, column) in itertools.product(depths, tiles):
        a = tuple(None if at is None else pa.register(batch, row, k ^ at) for at in within)
        b = tuple(None if at is None else pb.register(batch, k ^ at, column) for at in within)
        places = [(row ^ w, column) if down == _ROW else (row, column ^ w) for w in written]
        steps.append(MatrixStep(a, b, tuple(pd.register(batch, r, c) for r, c in places)))
    return steps


def _k_places(inner: Sequence[int | None]) -> list[int | None]:
    """The place along K of each element that an instruction reads; None beyond the end of a short tensor."""
    places: list[int | None] = [0]
    for v in inner:
        places += [None if place is None or v is None else place ^ v for place in places]
    return places
