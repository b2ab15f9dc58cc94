"""The operations of the amdg dialect on the tensor data mover (TDM): copies by descriptor.

A descriptor says where its block begins, and whether there is anything to do (`update_tensor_descriptor` changes
both). In older texts the copies say it: positions in square brackets, and a predicate (i32); they are read, and
printed as they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..ir import (
    I32,
    PURE,
    READ,
    WRITE,
    AnyAttr,
    Attribute,
    Bool,
    Flag,
    I32Array,
    Op,
    Operand,
    OptionalI32,
    OptionalOperand,
    OptionalResult,
    Result,
    Type,
    Value,
    VariadicOperand,
)
from ..ir.assembly import custom_syntax
from . import amdg_checks
from .ttg_memory import AsyncTokenType

if TYPE_CHECKING:
    from ..ir.parser import Parser
    from ..ir.printer import Printer

__all__ = [
    "AsyncTDMCopyGlobalToLocal",
    "AsyncTDMCopyLocalToGlobal",
    "AsyncTDMFusedCopyGlobalToLocal",
    "AsyncTDMGather",
    "AsyncTDMIntrinsicWait",
    "AsyncTDMScatter",
    "AsyncTDMWait",
    "TDMPrefetch",
    "TokenResult",
    "UpdateTensorDescriptor",
]


class TokenResult:
    """Mixin: the result is `!ttg.async.token`."""

    __slots__ = ()

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """!ttg.async.token"""
        return [AsyncTokenType()]


def _write_positions(printer: Printer, values: Sequence[Value]) -> str:
    return f"[{printer.values(values)}]" if values else ""


def _read_positions(parser: Parser) -> tuple[list[Value]]:
    if not parser.accept("["):
        return ([],)
    values = parser.operands()
    parser.expect("]")
    return (values,)


def _write_column(printer: Printer, rows: Value, column: Value | None) -> str:
    return printer.values([rows] if column is None else [rows, column])


def _read_column(parser: Parser) -> tuple[Value, Value | None]:
    rows = parser.operand()
    return rows, parser.operand() if parser.accept(",") else None


custom_syntax("FormerPositions", _write_positions, _read_positions)
custom_syntax("FormerColumn", _write_column, _read_column)

_BARRIER_TYPE = " (`,` qualified(type($barrier))^)? `->` "


def _write_extras(printer: Printer, predicate: Value | None, barrier: Value | None) -> str:
    parts = (("pred", predicate), ("barrier", barrier))
    return "".join([f", {word} = {printer.names[v]}" for word, v in parts if v is not None])


def _read_extras(parser: Parser) -> tuple[Value | None, Value | None]:
    found: dict[str, Value] = {}
    while parser.accept(","):
        at = parser.pos
        word = parser.accept_any("pred", "barrier")
        if word is None or word in found:
            raise parser.error("expected pred or barrier, each once", at)
        parser.expect("=")
        found[word] = parser.operand()
    return found.get("pred"), found.get("barrier")


custom_syntax("TDMExtras", _write_extras, _read_extras)
_EXTRAS = " `` custom<TDMExtras>($pred, $barrier) attr-dict `:` "


class AsyncTDMCopyGlobalToLocal(
    TokenResult,
    Op,
    name="amdg.async_tdm_copy_global_to_local",
    traits=READ | WRITE,
    assembly="$desc `` custom<FormerPositions>($indices) `into` $result"
    + _EXTRAS
    + "qualified(type($desc))"
    + _BARRIER_TYPE
    + "qualified(type($result))",
):
    """result = the block of `desc`, asynchronously, which counts at `barrier`; `token` is for a wait.

    `warp_used_hint` is a mask of the warps that should issue the copy, a power of two of them, all alike in some bits
    of their numbers.
    """

    verify_op = amdg_checks.tdm_copy

    desc: Operand
    result: Operand
    barrier: OptionalOperand
    pred: OptionalOperand
    indices: VariadicOperand
    cachePolicy: AnyAttr = None
    warp_used_hint: OptionalI32 = None
    token: Result


class AsyncTDMFusedCopyGlobalToLocal(
    TokenResult,
    Op,
    name="amdg.async_tdm_fused_copy_global_to_local",
    traits=READ | WRITE,
    assembly="$descs `into` $results_ attr-dict `:` type($descs) `->` type($results_)",
):
    """results_[i] = the block of descs[i], asynchronously, by the warps in the mask warp_used_hints[i]."""

    verify_op = amdg_checks.tdm_fused_copy

    descs: VariadicOperand
    results_: VariadicOperand
    warp_used_hints: I32Array
    token: Result


class AsyncTDMCopyLocalToGlobal(
    Op,
    name="amdg.async_tdm_copy_local_to_global",
    traits=READ | WRITE,
    assembly="$desc `` custom<FormerPositions>($indices) `from` $src"
    + _EXTRAS
    + "qualified(type($src))"
    + _BARRIER_TYPE
    + "qualified(type($desc))",
):
    """The block of `desc` = src, asynchronously, which counts at `barrier`; `token` is for a wait."""

    verify_op = amdg_checks.tdm_copy

    desc: Operand
    src: Operand
    barrier: OptionalOperand
    pred: OptionalOperand
    indices: VariadicOperand
    cachePolicy: AnyAttr = None
    token: OptionalResult

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """A token, unless the text is an older one."""
        sizes = attributes["operandSegmentSizes"].values  # type: ignore[attr-defined]
        return [] if sizes[-1] else [AsyncTokenType()]


class AsyncTDMScatter(
    TokenResult,
    Op,
    name="amdg.async_tdm_scatter",
    traits=READ | WRITE,
    assembly="$desc `[` `` custom<FormerColumn>($row_indices, $col_offset) `]` `from` $src"
    + _EXTRAS
    + "qualified(type($row_indices)) `,` qualified(type($src))"
    + _BARRIER_TYPE
    + "qualified(type($desc))",
):
    """Row row_indices[i] of what `desc` describes = src[i], asynchronously, which counts at `barrier`."""

    verify_op = amdg_checks.tdm_rows

    desc: Operand
    row_indices: Operand
    src: Operand
    barrier: OptionalOperand
    pred: OptionalOperand
    col_offset: OptionalOperand
    retToken: Result


class AsyncTDMGather(
    TokenResult,
    Op,
    name="amdg.async_tdm_gather",
    traits=READ | WRITE,
    assembly="$desc `[` `` custom<FormerColumn>($row_indices, $col_offset) `]` `to` $dst"
    + _EXTRAS
    + "qualified(type($row_indices)) `,` qualified(type($dst))"
    + _BARRIER_TYPE
    + "qualified(type($desc))",
):
    """dst[i] = row row_indices[i] of what `desc` describes, asynchronously, which counts at `barrier`."""

    verify_op = amdg_checks.tdm_rows

    desc: Operand
    row_indices: Operand
    dst: Operand
    barrier: OptionalOperand
    pred: OptionalOperand
    col_offset: OptionalOperand
    token: Result


class AsyncTDMWait(TokenResult, Op, name="amdg.async_tdm_wait", traits=READ | WRITE, assembly="$asyncToken attr-dict"):
    """Wait until at most `num` TDM operations are pending."""

    verify_op = amdg_checks.tokens

    asyncToken: VariadicOperand
    num: I32
    retToken: Result


class AsyncTDMIntrinsicWait(
    TokenResult, Op, name="amdg.async_tdm_intrinsic_wait", traits=READ | WRITE, assembly="($asyncToken^)? attr-dict"
):
    """Wait until at most `count` TDM instructions are pending; an operation may be several instructions."""

    verify_op = amdg_checks.tokens

    asyncToken: VariadicOperand
    count: I32
    retToken: Result


class TDMPrefetch(
    Op,
    name="amdg.tdm_prefetch",
    traits=READ | WRITE,
    assembly="$desc `[` $indices `]` `,` $pred `,` `speculative` `=` $speculative (`returnOffsets` $returnOffsets^)?"
    " attr-dict `:` qualified(type($desc)) (`->` type($maybeOffsets)^)?",
):
    """Fetch the block of `desc` at `indices` into the cache, where `pred`.

    `speculative`: the hardware may drop it, and bounds are not checked. With `returnOffsets` the result is what was
    fetched, for tests.
    """

    desc: Operand
    indices: VariadicOperand
    pred: Operand
    speculative: Bool
    returnOffsets: Flag = False
    maybeOffsets: OptionalResult


class UpdateTensorDescriptor(
    Op,
    name="amdg.update_tensor_descriptor",
    traits=PURE,
    assembly="$desc oilist(`add_offsets` `=` `[` $add_offsets `]` | `set_bounds` `=` `[` $set_bounds `]`"
    " | `dest` `=` $dest `:` qualified(type($dest)) | `pred` `=` $pred"
    " | `barrier` `=` $barrier `:` qualified(type($barrier))) attr-dict `:` qualified(type($desc))",
):
    """result = desc, its block moved by `add_offsets` elements, with other bounds, or another predicate.

    What is not said stays. Older texts also set the buffer `dest` and the `barrier`, which are the copy's since.
    """

    verify_op = amdg_checks.update_descriptor

    desc: Operand
    add_offsets: VariadicOperand
    set_bounds: VariadicOperand
    pred: OptionalOperand
    dest: OptionalOperand
    barrier: OptionalOperand
    result: Result
