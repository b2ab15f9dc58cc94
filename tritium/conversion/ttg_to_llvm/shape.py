"""Operations that give a tensor another shape, or spread a scalar: no thread talks to another here.

The layout of the result is such that every thread has what it needs; each part of the result is a part of an operand,
found by where both layouts put the same element.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dialects import tt
from ...ir import TensorType
from ...layout import LinearLayout
from ...layout.views import registers_in, renamed_dims, reshaped
from ...support import UnsupportedOperation
from .constant_offsets import add_offsets
from .context import FunctionContext, lowers
from .positions import positions
from .types import registers_of

__all__: list[str] = []


@lowers(tt.MakeRange)
def _make_range(e: FunctionContext, op: tt.MakeRange) -> None:
    coordinates = [row[0] for row in positions(e, e.layout(op.result))]
    if op.start:
        coordinates = [add_offsets(e, 32, c, str(op.start)) for c in coordinates]
    e.bind(op.result, coordinates)


@lowers(tt.Splat)
def _splat(e: FunctionContext, op: tt.Splat) -> None:
    e.bind(op.result, [e.scalar(op.src)] * registers_of(op.result.type))


@lowers(tt.Unsplat)
def _unsplat(e: FunctionContext, op: tt.Unsplat) -> None:
    e.bind(op.result, e(op.src)[:1])


def _registers(op: Any, wanted: LinearLayout, source: LinearLayout) -> list[int]:
    """For each register of the result, which register of the operand has it."""
    found = registers_in(wanted, source)
    if found is None:
        raise UnsupportedOperation(
            op, "has a result whose layout does not follow from that of its operand: a thread lacks an element"
        )
    return found


def _only(layout: LinearLayout, dims: Sequence[int]) -> LinearLayout:
    """The map to some of the dimensions, which are numbered anew."""
    kept = layout.sublayout(layout.ins, [f"dim{d}" for d in dims])
    return kept.renamed({f"dim{d}": f"dim{i}" for i, d in enumerate(dims)})


@lowers(tt.ExpandDims)
def _expand_dims(e: FunctionContext, op: tt.ExpandDims) -> None:
    layout = e.layout(op.result)
    wanted = _only(layout, [d for d in range(len(layout.outs)) if d != op.axis])
    parts = e(op.src)
    e.bind(op.result, [parts[r] for r in _registers(op, wanted, e.layout(op.src))])


@lowers(tt.Broadcast)
def _broadcast(e: FunctionContext, op: tt.Broadcast) -> None:
    source: Any = op.src.type
    target: Any = op.result.type
    kept = [d for d, (n, m) in enumerate(zip(source.shape, target.shape)) if n == m]
    registers = _registers(op, _only(e.layout(op.result), kept), _only(e.layout(op.src), kept))
    parts = e(op.src)
    e.bind(op.result, [parts[r] for r in registers])


@lowers(tt.Trans)
def _transpose(e: FunctionContext, op: tt.Trans) -> None:
    parts = e(op.src)
    source = renamed_dims(e.layout(op.src), op.order)
    e.bind(op.result, [parts[r] for r in _registers(op, e.layout(op.result), source)])


@lowers(tt.Reshape)
def _reshape(e: FunctionContext, op: tt.Reshape) -> None:
    parts, target = e(op.src), op.result.type
    assert isinstance(target, TensorType)
    wanted, source = e.layout(op.result), e.layout(op.src)
    found = registers_in(wanted, reshaped(source, target.shape))
    if found is None and op.allow_reorder:
        e.bind(op.result, _in_any_order(op, wanted, source, parts))
        return
    e.bind(op.result, [parts[r] for r in found or _registers(op, wanted, reshaped(source, target.shape))])


def _in_any_order(op: Any, wanted: LinearLayout, source: LinearLayout, parts: Sequence[str]) -> list[str]:
    """Each thread keeps its elements, whichever they are; it must have as many different ones in both layouts."""
    copies, before = wanted.redundant(), source.redundant()
    own = [v for r, v in enumerate(parts) if not r & before["register"]]
    numbers = [r for r in range(wanted.ins["register"]) if not r & copies["register"]]
    if len(own) != len(numbers) or any(copies[n] != before[n] for n in copies if n != "register"):
        raise UnsupportedOperation(op, "needs layouts in which each thread holds the same number of elements")
    place = dict(zip(numbers, own))
    return [place[r] for r in registers_in(wanted, wanted) or ()]


@lowers(tt.Cat)
def _cat(e: FunctionContext, op: tt.Cat) -> None:
    """Which element comes where is not promised: each thread has those of both operands."""
    halves = [e.layout(op.lhs), e.layout(op.rhs)]
    wanted = e.layout(op.result)
    both = [part for v, half in zip((op.lhs, op.rhs), halves) for part in _different(e(v), half)]
    numbers = [r for r in range(wanted.ins["register"]) if not r & wanted.redundant()["register"]]
    threads = [{n: m for n, m in layout.redundant().items() if n != "register"} for layout in (*halves, wanted)]
    if len(both) != len(numbers) or threads.count(threads[0]) != 3:
        raise UnsupportedOperation(op, "needs a layout in which each thread holds the elements of both operands")
    place = dict(zip(numbers, both))
    e.bind(op.result, [place[r] for r in registers_in(wanted, wanted) or ()])


def _different(parts: Sequence[str], layout: LinearLayout) -> list[str]:
    copies = layout.redundant()["register"]
    return [v for r, v in enumerate(parts) if not r & copies]


@lowers(tt.Join)
def _join(e: FunctionContext, op: tt.Join) -> None:
    layout, last = e.layout(op.result), len(e.layout(op.result).outs) - 1
    registers = _registers(op, _only(layout, range(last)), e.layout(op.lhs))
    _check_pairs(op, layout, last)
    halves = e(op.lhs), e(op.rhs)
    which = [layout.apply(register=r)[f"dim{last}"] for r in range(len(registers))]
    e.bind(op.result, [halves[k][r] for k, r in zip(which, registers)])


def _check_pairs(op: Any, layout: LinearLayout, last: int) -> None:
    """Both elements of a pair are in one thread."""
    if not layout.is_constant_over([n for n in layout.ins if n != "register"], [f"dim{last}"]):
        raise UnsupportedOperation(op, "needs both elements of a pair in one thread")


@lowers(tt.Split)
def _split(e: FunctionContext, op: tt.Split) -> None:
    layout, last = e.layout(op.src), len(e.layout(op.src).outs) - 1
    _check_pairs(op, layout, last)
    parts = e(op.src)
    for k, result in enumerate(op.results):
        own = [r for r in range(len(parts)) if layout.apply(register=r)[f"dim{last}"] == k]
        if not isinstance(result.type, TensorType):
            e.bind(result, [parts[own[0]]])
            continue
        where: dict[tuple[int, ...], int] = {}
        for r in own:
            where.setdefault(tuple(layout.apply(register=r).values())[:last], r)
        wanted = e.layout(result)
        _registers(op, wanted, _only(layout, range(last)))
        e.bind(result, [parts[where[tuple(wanted.apply(register=r).values())]] for r in range(wanted.ins["register"])])
