"""The operations of the tt dialect on descriptors: tensors in memory that are read and written block by block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir import (
    PURE,
    READ,
    WRITE,
    Access,
    AnyAttr,
    DescriptorAccess,
    IntegerType,
    Memory,
    Op,
    Operand,
    Result,
    TensorType,
    Type,
    Value,
    VariadicOperand,
    element_type,
    i32,
    i64,
    shape_of,
)
from .constraints import GOOD, bit_width, is_integer
from .tt_checks import all_of
from .tt_types import PaddingField, PaddingOption, PointerType, ReduceKindField, TensorDescType

__all__ = [
    "DescriptorGather",
    "DescriptorLoad",
    "DescriptorReduce",
    "DescriptorScatter",
    "DescriptorStore",
    "MakeTensorDescriptor",
]

_AT = "$desc `[` $indices `]` "
_STORED = " `,` $src attr-dict `:` qualified(type($desc)) `,` type($src)"
_ROWS = "$desc `[` $x_offsets `,` $y_offset `]`"


def _signless(ty: Type) -> Type:
    return IntegerType(ty.width) if isinstance(ty, IntegerType) else ty


def _make(op: Any) -> Sequence[str]:
    """As many sizes and strides as the block has dimensions."""
    ty, base = op.results[0].type, op.base.type
    if not isinstance(ty, TensorDescType) or not isinstance(base, PointerType):
        return (f"makes a descriptor from a pointer, not {ty} from {base}",)
    if bit_width(base.pointee) != bit_width(ty.block.element):
        return (f"{base} does not point to the elements of {ty}",)
    counts = [len(op.shape), len(op.strides)]
    if counts != [ty.block.rank] * 2:
        return (f"{counts} sizes and strides for {ty.block.rank} dimensions",)
    return all_of(op.shape, (i32,), "sizes") + all_of(op.strides, (i64,), "strides")


def _block_of(op: Any) -> TensorType | None:
    """The block that the operation's descriptor describes, if it is one; other dialects have descriptors of theirs."""
    block = getattr(op.desc.type, "block", None)
    return block if isinstance(block, TensorType) else None


def _access(op: Any, value: Type) -> Sequence[str]:
    block = _block_of(op)
    if block is None:
        return (f"needs a descriptor, not {op.desc.type}",)
    numel = value.numel if isinstance(value, TensorType) else 1
    if numel != block.numel or element_type(value) is not _signless(block.element):
        return (f"{op.desc.type} describes blocks of {block}, not {value}",)
    return all_of(op.indices, (i32,), "indices")


def _load(op: Any) -> Sequence[str]:
    """The result has the elements of a block of the descriptor, in any shape; one index a dimension."""
    return [*_access(op, op.results[0].type), *_indices(op)]


def _store(op: Any) -> Sequence[str]:
    """The value has the elements of a block of the descriptor, in any shape; one index a dimension."""
    return [*_access(op, op.src.type), *_indices(op)]


def _indices(op: Any) -> list[str]:
    block = _block_of(op)
    if block is None or len(op.indices) == block.rank:
        return []
    return [f"{len(op.indices)} indices for {block.rank} dimensions"]


def _rows(op: Any, value: Type) -> Sequence[str]:
    """Blocks of one row; a vector of numbers of rows; the value has that many rows of the block's columns."""
    block, rows = _block_of(op), op.x_offsets.type
    if block is None:
        return (f"needs a descriptor, not {op.desc.type}",)
    if block.rank != 2 or block.shape[0] != 1:
        return (f"needs a descriptor of blocks of one row, not {op.desc.type}",)
    if len(shape_of(rows)) != 1 or not is_integer[rows] or bit_width(rows) not in (16, 32):
        return (f"the rows are told by a vector of i16 or i32, not {rows}",)
    if op.y_offset.type is not i32:
        return (f"the first column must be i32, not {op.y_offset.type}",)
    want = TensorType((*shape_of(rows), block.shape[1]), _signless(block.element))
    if shape_of(value) != want.shape or element_type(value) is not want.element:
        return (f"{op.desc.type} and {rows} go with {want}, not {value}",)
    return _smallest(want)


def _smallest(ty: TensorType) -> Sequence[str]:
    """At least 8 rows, of at least 32 bytes each (8 elements of 32 bits or fewer)."""
    rows, columns = ty.shape
    bits = bit_width(ty)
    if bits > 32:
        return (f"elements have at most 32 bits, those of {ty} have {bits}",)
    if rows < 8 or columns < 256 // bits:
        return (f"{ty} is too small, it must have at least 8 rows and {256 // bits} columns",)
    return GOOD


def _gather(op: Any) -> Sequence[str]:
    """Blocks of one row, and as many rows in the result as there are numbers of rows."""
    return _rows(op, op.results[0].type)


def _scatter(op: Any) -> Sequence[str]:
    """Blocks of one row, and as many rows in `src` as there are numbers of rows."""
    return _rows(op, op.src.type)


class MakeTensorDescriptor(
    Op,
    name="tt.make_tensor_descriptor",
    traits=PURE,
    assembly="$base `,` `[` $shape `]` `,` `[` $strides `]` attr-dict"
    " `:` stripped(`!tt.ptr`, $base) `,` stripped(`!tt.tensordesc`, $result)",
):
    """result = a descriptor of the tensor at `base`: `shape` in i32 elements, `strides` in i64 elements."""

    verify_op = _make

    base: Operand
    shape: VariadicOperand
    strides: VariadicOperand
    padding: PaddingField = PaddingOption.pad_zero
    result: Result


class DescriptorLoad(
    DescriptorAccess,
    Op,
    name="tt.descriptor_load",
    traits=READ,
    assembly=_AT + "former<CachePolicy>($cachePolicy) attr-dict `:` qualified(type($desc)) `->` type($result)",
):
    """result = the block at `indices`; out-of-bounds elements are the descriptor's padding."""

    verify_op = _load
    accesses = (Access("desc", READ, Memory.GLOBAL),)

    desc: Operand
    indices: VariadicOperand
    cachePolicy: AnyAttr = None
    result: Result


class DescriptorStore(DescriptorAccess, Op, name="tt.descriptor_store", traits=READ | WRITE, assembly=_AT + _STORED):
    """The block at `indices` = src; out-of-bounds elements are not written."""

    verify_op = _store
    accesses = (Access("desc", WRITE, Memory.GLOBAL),)

    desc: Operand
    src: Operand
    indices: VariadicOperand


class DescriptorReduce(
    DescriptorAccess, Op, name="tt.descriptor_reduce", traits=READ | WRITE, assembly="$kind `,` " + _AT + _STORED
):
    """The block at `indices` = kind(block, src), atomic for each element; out-of-bounds elements are not written."""

    verify_op = _store
    accesses = (Access("desc", READ | WRITE, Memory.GLOBAL),)

    kind: ReduceKindField
    desc: Operand
    src: Operand
    indices: VariadicOperand


class DescriptorGather(
    DescriptorAccess,
    Op,
    name="tt.descriptor_gather",
    traits=READ,
    assembly=_ROWS + " attr-dict `:` functional-type(operands, $result)",
):
    """result[i, j] = tensor[x_offsets[i], y_offset + j]"""

    verify_op = _gather
    accesses = (Access("desc", READ, Memory.GLOBAL),)

    desc: Operand
    x_offsets: Operand
    y_offset: Operand
    result: Result

    @property
    def offsets(self) -> list[Value]:
        """The rows, and the first column."""
        return [self.x_offsets, self.y_offset]


class DescriptorScatter(
    DescriptorAccess,
    Op,
    name="tt.descriptor_scatter",
    traits=READ | WRITE,
    assembly=_ROWS + " `,` $src attr-dict `:` type(operands)",
):
    """tensor[x_offsets[i], y_offset + j] = src[i, j]"""

    verify_op = _scatter
    accesses = (Access("desc", WRITE, Memory.GLOBAL),)

    desc: Operand
    x_offsets: Operand
    y_offset: Operand
    src: Operand

    @property
    def offsets(self) -> list[Value]:
        """The rows, and the first column."""
        return [self.x_offsets, self.y_offset]
