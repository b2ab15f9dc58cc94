"""The proton_gpu dialect: a profiler inside of a kernel, which writes counters to a buffer of each of its units."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from ..ir import I32, PURE, READ, WRITE, Flag, Op, Operand, Result, Type, enum_field, i32, i64
from ..ir.parameters import Attr, DialectAttribute, DialectType, Int, Ints, keyword_kind
from .tt_types import PointerType
from .ttg_memory import MemDescType

if TYPE_CHECKING:
    from ..ir.parser import Parser

__all__ = [
    "CircularStore",
    "Finalize",
    "GlobalMemorySpace",
    "Granularity",
    "InitCtx",
    "Initialize",
    "MetricType",
    "ReadCounter",
    "RestoreCtx",
    "SaveCtx",
    "SegmentAlloc",
    "SegmentType",
]

Messages = Sequence[str]


class Granularity(enum.IntEnum):
    """What has a segment of its own."""

    thread = 0
    warp = 1
    warp_2 = 2
    warp_4 = 3
    warp_8 = 4
    cta = 5
    warp_group = 6
    warp_group_2 = 7
    warp_group_4 = 8
    warp_group_8 = 9


class MetricType(enum.IntEnum):
    """What is counted."""

    cycle = 0


MetricField = Annotated[MetricType, enum_field(MetricType)]


class GlobalMemorySpace(DialectAttribute, name="proton_gpu.global_memory"):
    """Global memory as the place of a profiler's buffer."""


class SegmentType(DialectType, name="proton_gpu.segment"):
    """`!proton_gpu.segment<2048, #smem, warp, [0, 1]>`: a unit's part of a buffer of `nBytes` bytes in all.

    `granularity` says what a unit is, `selectIds` which of them have a part (all, if it is not there).
    """

    nBytes: Int
    memorySpace: Attr
    granularity: Annotated[Granularity, keyword_kind(Granularity)]
    selectIds: Ints = ()

    def body(self, spell: Callable[[Any], str]) -> str:
        """`<2048, #smem, warp, [0, 1]>`"""
        chosen = f", [{', '.join(map(str, self.selectIds))}]" if self.selectIds else ""
        return f"<{self.nBytes}, {spell(self.memorySpace)}, {self.granularity.name}{chosen}>"

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        """The same, read."""
        at = parser.pos
        given: dict[str, Any] = {}
        parser.expect("<")
        cls.read_list(parser, given)
        return cls.build(parser, at, given)


def _operands(op: Any) -> Iterator[str]:
    """Segments, addresses and counters where the definition has them."""
    kinds: dict[str, tuple[type[Type], str]] = {
        "segment": (SegmentType, "a segment"),
        "scratchPtr": (PointerType, "an address"),
    }
    for f in op.fields:
        kind = kinds.get(f.name)
        if kind is not None and not isinstance(ty := getattr(op, f.name).type, kind[0]):
            yield f"{f.name} must be {kind[1]}, not {ty}"
        elif f.name == "counter" and (ty := op.counter.type) not in (i32, i64):
            yield f"a counter is i32 or i64, not {ty}"


def operands(op: Any) -> Messages:
    """Segments, addresses and counters (i32 or i64) where they belong."""
    return list(_operands(op))


def segment_alloc(op: Any) -> Messages:
    """A segment of a buffer, or of memory at an address."""
    ty = op.buffer.type
    found = [] if isinstance(ty, (MemDescType, PointerType)) else [f"needs a buffer or an address, not {ty}"]
    return [*found, *_operands(op)]


class CircularStore(
    Op,
    name="proton_gpu.circular_store",
    traits=READ | WRITE,
    assembly="(`start` $isStart^):(`end`)? $segment `,` $counter attr-dict"
    " `:` qualified(type($segment)) `,` type($counter)",
):
    """Append `counter` to `segment`, for the begin or the end of scope `scopeId`; the oldest go when it is full."""

    verify_op = operands

    segment: Operand
    counter: Operand
    isStart: Flag = False
    scopeId: I32


class ReadCounter(Op, name="proton_gpu.read_counter", traits=READ | WRITE, assembly="attr-dict `:` type($counter)"):
    """counter = what the hardware has counted so far."""

    verify_op = operands

    metric: MetricField = MetricType.cycle
    counter: Result


class Initialize(
    Op,
    name="proton_gpu.initialize",
    traits=READ | WRITE,
    assembly="$scratchPtr attr-dict `:` qualified(type($scratchPtr))",
):
    """Write the head of a profile at `scratchPtr`."""

    verify_op = operands

    scratchPtr: Operand


class Finalize(
    Op,
    name="proton_gpu.finalize",
    traits=READ | WRITE,
    assembly="$segment `,` $scratchPtr attr-dict `:` qualified(type($segment)) `,` qualified(type($scratchPtr))",
):
    """Write `segment` and what belongs to it to `scratchPtr`."""

    verify_op = operands

    segment: Operand
    scratchPtr: Operand


class SegmentAlloc(
    Op,
    name="proton_gpu.segment_alloc",
    traits=PURE,
    assembly="$buffer attr-dict `:` qualified(type($buffer)) `->` stripped(`!proton_gpu.segment`, $segment)",
):
    """segment = this unit's part of `buffer`."""

    verify_op = segment_alloc

    buffer: Operand
    segment: Result


class InitCtx(
    Op,
    name="proton_gpu.init_ctx",
    traits=READ | WRITE,
    assembly="$scratchPtr attr-dict `:` qualified(type($scratchPtr))",
):
    """Prepare the places at `scratchPtr` where warps keep how far they have come in their segments."""

    verify_op = operands

    scratchPtr: Operand


class RestoreCtx(
    Op,
    name="proton_gpu.restore_ctx",
    traits=READ | WRITE,
    assembly="$segment `,` $scratchPtr attr-dict `:` qualified(type($segment)) `,` qualified(type($scratchPtr))",
):
    """How far this warp has come in `segment` is what `scratchPtr` says."""

    verify_op = operands

    segment: Operand
    scratchPtr: Operand


class SaveCtx(
    Op,
    name="proton_gpu.save_ctx",
    traits=READ | WRITE,
    assembly="$segment `,` $scratchPtr attr-dict `:` qualified(type($segment)) `,` qualified(type($scratchPtr))",
):
    """Write to `scratchPtr` how far this warp has come in `segment`."""

    verify_op = operands

    segment: Operand
    scratchPtr: Operand
