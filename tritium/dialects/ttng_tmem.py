"""The operations of the ttng dialect on tensor memory, and MMA on Blackwell.

Tokens (`!ttg.async.token`) tie accesses of one buffer together where several are around: an access takes the token of
the one it depends on, and results in one. They are in square brackets after the buffer: `%a[]` gives a
token, `%a[%t]` also takes one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..ir import (
    ALLOC,
    I32,
    PURE,
    READ,
    WRITE,
    Access,
    AnyAttr,
    DotLike,
    Flag,
    Memory,
    MemoryAccess,
    Op,
    Operand,
    OptionalBool,
    OptionalOperand,
    OptionalResult,
    Result,
    Type,
    Value,
    VariadicOperand,
    ViewLike,
)
from ..ir.assembly import custom_syntax
from ..ir.assembly_parser import compile_parser
from . import ttng_tmem_checks
from .tt_types import ScaleElemField
from .ttg_memory import AsyncTokenType
from .ttng_types import TmemWaitKindField

if TYPE_CHECKING:
    from ..ir.parser import Parser
    from ..ir.printer import Printer

__all__ = [
    "TCGen5Commit",
    "TCGen5MMA",
    "TCGen5MMAScaled",
    "TMEMAlloc",
    "TMEMCopy",
    "TMEMLoad",
    "TMEMStore",
    "TMEMSubSlice",
    "TMEMWait",
]


# -- syntax -------------------------------------------------------------------------------------------------------


def _write_token(printer: Printer, taken: Value | None, given: Type | None) -> str:
    if given is None:
        return ""
    return f"[{'' if taken is None else printer.names[taken]}]"


def _read_token(parser: Parser) -> tuple[Value | None, Type | None]:
    if not parser.accept("["):
        return None, None
    taken = parser.optional_operand()
    parser.expect("]")
    return taken, AsyncTokenType()


def _write_barriers(printer: Printer, barriers: Sequence[Value], predicates: Sequence[Value]) -> str:
    return "".join([f", {printer.names[b]}[{printer.names[p]}]" for b, p in zip(barriers, predicates)])


def _read_barriers(parser: Parser) -> tuple[list[Value], list[Value]]:
    barriers, predicates = [], []
    while parser.accept(","):
        barriers.append(parser.operand())
        parser.expect("[")
        predicates.append(parser.operand())
        parser.expect("]")
    return barriers, predicates


custom_syntax("Token", _write_token, _read_token)
custom_syntax("BarriersAndPreds", _write_barriers, _read_barriers)


# -- MMA ----------------------------------------------------------------------------------------------------------


class TCGen5MMA(
    DotLike,
    Op,
    name="ttng.tc_gen5_mma",
    traits=READ | WRITE,
    assembly="$a `,` $b `,` $d `` custom<Token>($acc_dep, type($token)) `,` $useD `,` $pred"
    " `` custom<BarriersAndPreds>($barriers, $barrier_preds) attr-dict `:` qualified(type($a)) `,` qualified(type($b))"
    " `,` qualified(type($d)) (`,` qualified(type($barriers))^)?",
):
    """d = a @ b + (useD ? d : 0), where `pred`.

    `d` is in tensor memory, `b` in shared memory, `a` in one of them. With `is_async` the MMA is only issued here, and
    its completion arrives at each of the `barriers` whose `barrier_preds` are true. With `two_ctas` two CTAs compute
    it together, each with half of the operands. `is_unsigned` applies to integers.
    """

    verify_op = ttng_tmem_checks.mma
    accumulates_in_registers = False

    a: Operand
    b: Operand
    d: Operand
    acc_dep: OptionalOperand
    useD: Operand
    pred: Operand
    barriers: VariadicOperand
    barrier_preds: VariadicOperand
    is_async: Flag = False
    two_ctas: Flag = False
    multicast: Flag = False
    is_unsigned: Flag = False
    token: OptionalResult


class TCGen5MMAScaled(
    DotLike,
    Op,
    name="ttng.tc_gen5_mma_scaled",
    traits=READ | WRITE,
    assembly="$a `,` $b `,` $d `` custom<Token>($acc_dep, type($token)) `,` $a_scale `,` $b_scale `,` $useD `,` $pred"
    " `lhs` `=` $a_type `rhs` `=` $b_type `` custom<BarriersAndPreds>($barriers, $barrier_preds) attr-dict"
    " `:` qualified(type($a)) `,` qualified(type($b)) `,` qualified(type($d)) `,` qualified(type($a_scale))"
    " `,` qualified(type($b_scale)) (`,` qualified(type($barriers))^)?",
):
    """d = (a_scale * a) @ (b_scale * b) + (useD ? d : 0), where `pred`.

    Elements are of the formats `a_type` and `b_type`, each scale is for a group of them along the inner dimension;
    the rest is as for `tc_gen5_mma`.
    """

    verify_op = ttng_tmem_checks.mma_scaled
    accumulates_in_registers = False

    a: Operand
    b: Operand
    d: Operand
    acc_dep: OptionalOperand
    a_scale: Operand
    b_scale: Operand
    useD: Operand
    pred: Operand
    barriers: VariadicOperand
    barrier_preds: VariadicOperand
    a_type: ScaleElemField
    b_type: ScaleElemField
    two_ctas: Flag = False
    multicast: Flag = False
    is_async: Flag = False
    token: OptionalResult


class TCGen5Commit(
    Op,
    name="ttng.tc_gen5_commit",
    traits=READ | WRITE,
    assembly="$barrier (`,` $pred^)? (`descs` $descs^)? attr-dict"
    " `:` qualified(type($barrier)) (`,` qualified(type($descs))^)?",
):
    """Arrive at `barrier` once all earlier MMAs and copies to tensor memory have completed, where `pred`.

    With `descs`, at most four buffers that were filled by multicast copies, it arrives at the barriers of all blocks
    that got these copies. Arrivals come in the order of the commits.
    """

    verify_op = ttng_tmem_checks.commit

    barrier: Operand
    pred: OptionalOperand
    descs: VariadicOperand


# -- tensor memory ------------------------------------------------------------------------------------------------


class TMEMAlloc(
    Op,
    name="ttng.tmem_alloc",
    traits=ALLOC,
    assembly="($src^)? attr-dict `:` functional-type(operands, results)",
):
    """result = a new buffer in tensor memory, initialized with `src` if present.

    A buffer that is not mutable is a value: equal ones may share memory, until `tensor_memory_col_offset` says where
    it lies.
    """

    verify_op = ttng_tmem_checks.tmem_alloc

    src: OptionalOperand
    result: Result
    token: OptionalResult

    @property
    def effects(self) -> int:
        """None for a buffer that is a value; a mutable one is made, and written."""
        if not self.results[0].type.mutable and "tensor_memory_col_offset" not in self.attributes:  # type: ignore[attr-defined]
            return 0
        return ALLOC | WRITE if self.operands else ALLOC


class TMEMLoad(
    MemoryAccess,
    Op,
    name="ttng.tmem_load",
    traits=READ,
    assembly="$src `` custom<Token>($dep, type($token)) attr-dict `:` qualified(type($src)) `->` type($result)"
    " (`,` type($red)^)?",
):
    """result = src, from tensor memory; with `redOp`, red[i] = the minimum or maximum of row i.

    `abs` makes it that of the absolute values, `NaN` makes it NaN where one is in the row (else they do not count).
    """

    verify_op = ttng_tmem_checks.tmem_load
    accesses = (Access("src", READ, Memory.TENSOR),)

    src: Operand
    dep: OptionalOperand
    redOp: AnyAttr = None
    abs: OptionalBool = None
    NaN: OptionalBool = None
    result: Result
    token: OptionalResult
    red: OptionalResult


class TMEMStore(
    MemoryAccess,
    Op,
    name="ttng.tmem_store",
    traits=WRITE,
    assembly="$src `,` $dst `` custom<Token>($dep, type($token)) `,` $pred attr-dict"
    " `:` type($src) `->` qualified(type($dst))",
):
    """dst = src, from registers to tensor memory, where `pred`."""

    verify_op = ttng_tmem_checks.tmem_store
    accesses = (Access("dst", WRITE, Memory.TENSOR),)

    dst: Operand
    dep: OptionalOperand
    src: Operand
    pred: Operand
    token: OptionalResult


class TMEMWait(Op, name="ttng.tmem_wait", traits=READ | WRITE, assembly="$kind attr-dict"):
    """Wait until earlier loads, or stores, of tensor memory by these threads have completed."""

    kind: TmemWaitKindField


class TMEMSubSlice(
    ViewLike,
    Op,
    name="ttng.tmem_subslice",
    traits=PURE,
    assembly="$src attr-dict `:` qualified(type($src)) `->` qualified(type($result))",
):
    """result = the slice of the buffer at `offset` in dimension `dim`, of the size in the result's type."""

    verify_op = ttng_tmem_checks.tmem_subslice

    src: Operand
    offset: I32
    dim: I32 = 1
    result: Result

    @classmethod
    def parse_assembly(cls, parser: Parser) -> Op:
        """As the format says; an older text calls the offset `N`."""
        op: Op = _read_subslice(parser)
        if "N" in op.attributes:
            op.attributes["offset"] = op.attributes.pop("N")
        return op


_read_subslice = compile_parser(TMEMSubSlice)


class TMEMCopy(
    Op,
    name="ttng.tmem_copy",
    traits=READ | WRITE,
    assembly="$src `,` $dst attr-dict `:` qualified(type(operands))",
):
    """dst = src, an asynchronous copy from shared to tensor memory; `tc_gen5_commit` signals its completion.

    For a destination with the layout of scales, each block of 32x16 bytes is copied to the rows of four warps.
    """

    verify_op = ttng_tmem_checks.tmem_copy

    src: Operand
    dst: Operand
