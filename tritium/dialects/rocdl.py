"""The operations of the rocdl dialect that occur in tile programs: AMD instructions and scheduling barriers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from ..ir import I16, I32, PURE, READ, SAME_TYPE, WRITE, AnyAttr, Attribute, IntegerType, Op, Operand, Result
from ..ir.assembly import custom_syntax
from ..ir.parameters import DialectAttribute, Kind

if TYPE_CHECKING:
    from ..ir.parser import Parser
    from ..ir.printer import Printer

__all__ = [
    "Barrier",
    "ReadFirstLane",
    "SBarrier",
    "SchedBarrier",
    "SchedGroupBarrier",
    "SchedGroupMask",
    "SetPrio",
    "WaveId",
    "WorkgroupIdX",
    "WorkgroupIdY",
    "WorkgroupIdZ",
    "WorkitemIdX",
    "WorkitemIdY",
    "WorkitemIdZ",
]

_KINDS = (
    "non_mem_non_sideeffect",
    "valu",
    "salu",
    "mfma_wmma",
    "all_vmem",
    "vmem_read",
    "vmem_write",
    "all_ds",
    "ds_read",
    "ds_write",
    "transcendental",
    "ldsdma",
)
_ALL = (1 << len(_KINDS)) - 1


def _mask(v: Any) -> int:
    if not isinstance(v, int) or not 0 <= v <= _ALL:
        raise ValueError(f"{v!r} is no set of kinds of instructions")
    return v


def _read_mask(parser: Parser) -> int:
    """`valu|salu`, `none`, `all`; in an older text a number."""
    if parser.at_number():
        return parser.integer()
    mask = 0
    while True:
        at = parser.pos
        word = parser.word("kinds of instructions")
        if word not in ("none", "all", *_KINDS):
            raise parser.error(f"'{word}' is no kind of instructions", at, f"there are none, {', '.join(_KINDS)}, all")
        mask |= {"none": 0, "all": _ALL}.get(word, 0) or (1 << _KINDS.index(word) if word in _KINDS else 0)
        if not parser.accept("|"):
            return mask


def _write_mask(mask: int) -> str:
    if mask in (0, _ALL):
        return "all" if mask else "none"
    return "|".join(kind for i, kind in enumerate(_KINDS) if mask >> i & 1)


class SchedGroupMask(DialectAttribute, name="rocdl.sched_group_mask"):
    """`#rocdl<sched_group_mask valu|salu>`: a set of kinds of instructions, as a number with a bit for each."""

    value: Annotated[int, Kind(_mask, _read_mask, lambda v, spell: _write_mask(v))]

    def spelled(self, spell: Any) -> str:
        """The whole text."""
        return f"#rocdl<sched_group_mask {_write_mask(self.value)}>"

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        """`valu|salu`, the text after the name."""
        at = parser.pos
        return cls.build(parser, at, {"value": _read_mask(parser)})


def _write_kinds(printer: Printer, mask: Attribute) -> str:
    return _write_mask(mask.value)  # type: ignore[attr-defined]


def _read_kinds(parser: Parser) -> tuple[Attribute]:
    at = parser.pos
    return (SchedGroupMask.build(parser, at, {"value": _read_mask(parser)}),)


custom_syntax("SchedGroupMask", _write_kinds, _read_kinds)


class SchedBarrier(
    Op, name="rocdl.sched.barrier", traits=READ | WRITE, assembly="custom<SchedGroupMask>($mask) attr-dict"
):
    """The scheduler moves no instruction across this, except those of the kinds in `mask`."""

    mask: AnyAttr


class SchedGroupBarrier(
    Op,
    name="rocdl.sched.group.barrier",
    traits=READ | WRITE,
    assembly="custom<SchedGroupMask>($mask) `,` $size `,` $groupId attr-dict",
):
    """The scheduler puts `size` instructions of the kinds in `mask` here, in order with others of this `groupId`."""

    mask: AnyAttr
    size: I32
    groupId: I32


class SetPrio(Op, name="rocdl.s.setprio", traits=READ | WRITE, assembly="$priority attr-dict"):
    """The warp's priority is `priority` from here on, 0 to 3."""

    priority: I16


class Barrier(Op, name="rocdl.barrier", traits=READ | WRITE, assembly="attr-dict"):
    """Wait until all threads of the block are here; accesses of memory keep their side of it."""


class SBarrier(Op, name="rocdl.s.barrier", traits=READ | WRITE, assembly="attr-dict"):
    """Wait until all threads of the block are here."""


class _Number:
    """Mixin: the result is an integer."""

    __slots__ = ()

    def verify_op(self: Any) -> list[str]:
        """An integer."""
        ty = self.results[0].type
        return [] if isinstance(ty, IntegerType) else [f"the result must be an integer, not {ty}"]


class WorkitemIdX(_Number, Op, name="rocdl.workitem.id.x", traits=PURE, assembly="attr-dict `:` type($res)"):
    """res = the number of this thread in its block, along x."""

    res: Result


class WorkitemIdY(_Number, Op, name="rocdl.workitem.id.y", traits=PURE, assembly="attr-dict `:` type($res)"):
    """res = the number of this thread in its block, along y."""

    res: Result


class WorkitemIdZ(_Number, Op, name="rocdl.workitem.id.z", traits=PURE, assembly="attr-dict `:` type($res)"):
    """res = the number of this thread in its block, along z."""

    res: Result


class WorkgroupIdX(_Number, Op, name="rocdl.workgroup.id.x", traits=PURE, assembly="attr-dict `:` type($res)"):
    """res = the number of this block, along x."""

    res: Result


class WorkgroupIdY(_Number, Op, name="rocdl.workgroup.id.y", traits=PURE, assembly="attr-dict `:` type($res)"):
    """res = the number of this block, along y."""

    res: Result


class WorkgroupIdZ(_Number, Op, name="rocdl.workgroup.id.z", traits=PURE, assembly="attr-dict `:` type($res)"):
    """res = the number of this block, along z."""

    res: Result


class WaveId(_Number, Op, name="rocdl.wave.id", traits=PURE, assembly="attr-dict `:` type($res)"):
    """res = the number of this warp in its block."""

    res: Result


class ReadFirstLane(Op, name="rocdl.readfirstlane", traits=READ | SAME_TYPE, assembly="$src attr-dict `:` type($res)"):
    """res = src of the first active thread of the warp; depends on which threads are active, so it stays in place."""

    src: Operand
    res: Result
