"""The ttc dialect: tile programs on a CPU, as loops over vectors, scalars and scratch buffers.

What is left of a tile here is `vector<16xf32>` in registers or a `!ttc.buf<1024xf32>` in scratch memory; loops are
`scf.for`, arithmetic is `arith` and `math` on vectors and scalars.
"""

from __future__ import annotations

import re
from typing import Any

from ..ir import (
    ALLOC,
    DIALECT_TYPES,
    I32,
    PURE,
    READ,
    WRITE,
    Attribute,
    Bool,
    I32Array,
    Op,
    Operand,
    OptionalOperand,
    Result,
    ShapedType,
    Str,
    Type,
    Value,
    VariadicOperand,
    VectorType,
)
from . import ttc_checks
from .tt import PointerType

__all__ = [
    "Address",
    "Alloc",
    "Assert",
    "BufferType",
    "CheckBounds",
    "CheckWritable",
    "Clock",
    "Dot",
    "Extract",
    "Gather",
    "Load",
    "OffsetPointer",
    "Prefetch",
    "Print",
    "Scatter",
    "Shuffle",
    "Splat",
    "Store",
]


class BufferType(Type):
    """`!ttc.buf<1024xf32>`: scratch memory of that many elements, aligned to 64 bytes, private to one program."""

    __slots__ = ("element", "size")
    size: int
    element: Type

    def __new__(cls, size: int, element: Type) -> BufferType:
        found = cls._table.get((size, element))
        if found is not None:
            return found
        self = object.__new__(cls)
        self.size, self.element = size, element
        return cls._table.setdefault((size, element), self)

    def spell(self, texts: dict[Any, str]) -> str:
        return f"!ttc.buf<{self.size}x{texts[self.element]}>"


def _parse_buffer(parser: Any) -> BufferType:
    """`<1024xf32>`"""
    parser.expect("<")
    match = _SIZE.match(parser.text, parser.pos)
    if match is None:
        raise parser.error("a buffer type has a size: !ttc.buf<1024xf32>")
    parser.skip_to(match.end())
    element = parser.type()
    parser.expect(">")
    return BufferType(int(match[1]), element)


_SIZE = re.compile(r"\s*(\d+)\s*x")
DIALECT_TYPES["ttc.buf"] = _parse_buffer


class Alloc(Op, name="ttc.alloc", traits=ALLOC, assembly="attr-dict `:` type($result)"):
    """result = scratch memory with undefined contents."""

    result: Result


class Address(
    Op,
    name="ttc.address",
    traits=PURE,
    assembly="$buffer `[` $offset `]` attr-dict `:` type($buffer) `,` type($offset)",
):
    """result = the address of element `offset` of `buffer`."""

    verify_op = ttc_checks.address

    buffer: Operand
    offset: Operand
    result: Result

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """A pointer to the element type."""
        ty = operands[0].type
        assert isinstance(ty, BufferType)
        return [PointerType(ty.element)]


class OffsetPointer(
    Op,
    name="ttc.offset_pointer",
    traits=PURE,
    assembly="$base `,` $offsets attr-dict `:` type($base) `,` type($offsets)",
):
    """result[i] = base + offsets[i] * sizeof(pointee): one base, a vector of offsets."""

    verify_op = ttc_checks.offset_pointer

    base: Operand
    offsets: Operand
    result: Result

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """A vector of pointers."""
        offsets = operands[1].type
        assert isinstance(offsets, VectorType)
        return [VectorType(offsets.shape, operands[0].type)]


class Splat(Op, name="ttc.splat", traits=PURE, assembly="$src attr-dict `:` type($src) `->` type($result)"):
    """result[i] = src"""

    verify_op = ttc_checks.splat

    src: Operand
    result: Result


class Load(
    Op,
    name="ttc.load",
    traits=READ,
    assembly="$ptr (`,` $mask^)? (`,` $other^)? attr-dict `:` type($ptr) `->` type($result)",
):
    """result[i] = ptr[i] where mask[i], other[i] elsewhere: consecutive elements, or one scalar without a mask."""

    verify_op = ttc_checks.load

    ptr: Operand
    mask: OptionalOperand
    other: OptionalOperand
    is_volatile: Bool = False
    result: Result

    @property
    def effects(self) -> int:
        """A volatile load must not be moved or removed."""
        return READ | WRITE if self.is_volatile else READ


class Store(
    Op,
    name="ttc.store",
    traits=WRITE,
    assembly="$ptr `,` $value (`,` $mask^)? attr-dict `:` type($ptr) `,` type($value)",
):
    """ptr[i] = value[i] where mask[i]: consecutive elements, or one scalar without a mask."""

    verify_op = ttc_checks.store

    ptr: Operand
    value: Operand
    mask: OptionalOperand


class Prefetch(Op, name="ttc.prefetch", traits=WRITE, assembly="$ptr attr-dict `:` type($ptr)"):
    """Prefetch the cache line at `ptr` for writing, or reading if `to_read`. A hint, valid for any address."""

    ptr: Operand
    to_read: Bool = False


class Gather(
    Op,
    name="ttc.gather",
    traits=READ,
    assembly="$ptrs (`,` $mask^)? (`,` $other^)? attr-dict `:` type($ptrs) `->` type($result)",
):
    """result[i] = *ptrs[i] where mask[i], other[i] elsewhere."""

    verify_op = ttc_checks.gather

    ptrs: Operand
    mask: OptionalOperand
    other: OptionalOperand
    result: Result


class Scatter(
    Op,
    name="ttc.scatter",
    traits=WRITE,
    assembly="$ptrs `,` $value (`,` $mask^)? attr-dict `:` type($ptrs) `,` type($value)",
):
    """*ptrs[i] = value[i] where mask[i], in lane order."""

    verify_op = ttc_checks.scatter

    ptrs: Operand
    value: Operand
    mask: OptionalOperand


class Shuffle(
    Op,
    name="ttc.shuffle",
    traits=PURE,
    assembly="$lhs `,` $rhs $lanes attr-dict `:` type($lhs) `->` type($result)",
):
    """result[i] = (lhs ++ rhs)[lanes[i]]"""

    verify_op = ttc_checks.shuffle

    lhs: Operand
    rhs: Operand
    lanes: I32Array
    result: Result

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """A vector of as many lanes as `lanes` lists."""
        ty = operands[0].type
        assert isinstance(ty, VectorType)
        return [VectorType((len(attributes["lanes"].values),), ty.element)]  # type: ignore[attr-defined]


class Extract(Op, name="ttc.extract", traits=PURE, assembly="$src attr-dict `:` type($src)"):
    """result = src[lane]"""

    verify_op = ttc_checks.extract

    src: Operand
    lane: I32
    result: Result

    @classmethod
    def infer_types(cls, operands: list[Value], attributes: dict[str, Attribute]) -> list[Type]:
        """The element type."""
        ty = operands[0].type
        assert isinstance(ty, ShapedType)
        return [ty.element]


class Dot(
    Op,
    name="ttc.dot",
    traits=READ | WRITE,
    assembly="$acc `,` $a `,` $b attr-dict `:` type($acc) `,` type($a) `,` type($b)",
):
    """acc[m][n] += sum over k of a[m][k] * b[k][n], in scratch memory, laid out as the dot plan says.

    `m`, `n`, `k` are the sizes; `types` names the operand, operand and accumulator types of the tile program.
    """

    verify_op = ttc_checks.dot

    acc: Operand
    a: Operand
    b: Operand
    m: I32
    n: I32
    k: I32
    types: Str


class Clock(Op, name="ttc.clock", traits=READ | WRITE, assembly="attr-dict `:` type($result)"):
    """result = the time in nanoseconds since an arbitrary point."""

    verify_op = ttc_checks.clock

    result: Result


class Assert(Op, name="ttc.assert", traits=WRITE, assembly="$condition `,` $message attr-dict `:` type($condition)"):
    """Record an error and end the program unless `condition`, a scalar i1, holds."""

    verify_op = ttc_checks.assert_op

    condition: Operand
    message: Str


class CheckBounds(
    Op,
    name="ttc.check_bounds",
    traits=READ | WRITE,
    assembly="$ptrs `[` $index `]` (`,` $mask^)? `in` $base attr-dict `:` type($ptrs) `,` type($index) `,` type($base)",
):
    """Record an error and end the program if an address selected by `mask` is outside of the array `base`.

    `ptrs` is a vector of pointers or one pointer; `index` the element's number in the tile; `access` is load, store
    or atomic.
    """

    verify_op = ttc_checks.check_bounds

    ptrs: Operand
    base: Operand
    index: Operand
    mask: OptionalOperand
    access: Str
    argument: I32


class CheckWritable(
    Op,
    name="ttc.check_writable",
    traits=READ | WRITE,
    assembly="$ptrs `[` $index `]` (`,` $mask^)? attr-dict `:` type($ptrs) `,` type($index)",
):
    """Record an error and end the program if an address selected by `mask` is in read-only memory.

    `ptrs` is a vector of pointers or one pointer; `index` the element's number in the tile. The launch says which
    memory that is: in its table of bounds, from row `first` on.
    """

    verify_op = ttc_checks.check_writable

    ptrs: Operand
    index: Operand
    mask: OptionalOperand
    first: I32


class Print(Op, name="ttc.print", traits=WRITE, assembly="$prefix attr-dict (`:` $ptrs^ `:` type($ptrs))?"):
    """Pass the tiles at `ptrs` (buffers in row-major order) to the print callback.

    `shapes` lists rank and sizes of each tile one after another, `capacities` those of the buffers where they are
    larger: what is printed is their first part in each dimension. `types` lists the element types separated by spaces,
    `isSigned` one number a tile; `hex` asks for hexadecimal.
    """

    verify_op = ttc_checks.print_op

    prefix: Str
    hex: Bool
    ptrs: VariadicOperand
    shapes: I32Array
    types: Str
    isSigned: I32Array
    capacities: I32Array = ()
