"""The layouts of buffers in shared memory, and the descriptors of such buffers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

from ..ir import Attribute, ShapedType, Type, element_type
from ..ir.parameters import (
    BASES,
    BOOLEAN,
    INT,
    INTS,
    Attr,
    Bases,
    Boolean,
    DialectAttribute,
    DialectType,
    Int,
    Ints,
    Typ,
    power_of_two,
    read_entries,
)
from ..ir.parameters import write_bases as written
from ..layout.bases import (
    identity_bases,
    is_surjective,
    moves_along_one,
    order_of_bases,
    rank_of_bases,
    shape_of_bases,
)
from .constraints import bit_width
from .tt_types import PointerType
from .ttg_layouts import Layout, check_cga, is_permutation_of_dims

if TYPE_CHECKING:
    from ..ir.parser import Parser

__all__ = [
    "MMA_SHARED",
    "AmdRotatingShared",
    "AsyncTokenType",
    "MemDescType",
    "MemoryLayout",
    "NvmmaShared",
    "PaddedShared",
    "PartitionedShared",
    "Shared",
    "SharedLinear",
    "SharedMemorySpace",
    "SwizzledShared",
    "element_bits",
    "padded_layout",
]


class SharedMemorySpace(DialectAttribute, name="ttg.shared_memory", alias="smem"):
    """`#ttg.shared_memory`: the shared memory of a CTA."""


class MemoryLayout(Layout):
    """Base of the layouts of buffers. `space`: the memory space of such buffers; `alignment` of a buffer in bytes."""

    space: Attribute
    alignment: int = 16

    def check_buffer(self, buffer: MemDescType) -> str | None:
        """What keeps a buffer from having this layout, or None."""
        return None


class Shared(MemoryLayout):
    """Base of the layouts of buffers in shared memory."""

    space = SharedMemorySpace()

    def check_buffer(self, buffer: MemDescType) -> str | None:
        """Whole bytes; as many dimensions, or one more in front (the number of copies in a pipeline)."""
        if element_bits(buffer.element) % 8:
            return f"elements must be whole bytes, not {buffer.element}"
        n = len(buffer.shape)
        if self.rank not in (n, n - 1):
            return f"a layout of {self.rank} dimensions does not fit to a buffer of {n}"
        return None

    def address(self, offset: int) -> int:
        """The memory offset of an offset of the linear map, in elements."""
        return offset


class _Swizzled(Shared):
    if TYPE_CHECKING:
        vec: int
        perPhase: int
        maxPhase: int
        order: tuple[int, ...]
        CGALayout: tuple[tuple[int, ...], ...]

    rank = property(lambda self: len(self.order))
    ctas = property(lambda self: 1 << len(self.CGALayout))

    def check(self) -> str | None:
        """An order of the dimensions."""
        if not is_permutation_of_dims(self.order):
            return f"order {list(self.order)} is no permutation of its dimensions"
        if not all(map(power_of_two, (self.vec, self.perPhase, self.maxPhase))):
            return "vec, perPhase and maxPhase must be powers of two"
        return check_cga(self.CGALayout, self.rank)


class SwizzledShared(_Swizzled, name="ttg.swizzled_shared", alias="shared"):
    """`#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 4, order = [1, 0]}>`: XOR swizzling.

    Row by row, but group c of `vec` elements of row r stands where group c xor phase would, so that a column lies in
    different banks; the phase is (r / perPhase) mod maxPhase. Of the layout above, the rows of a 4 x 4 tensor begin
    with their elements 0, 1, 2 and 3. `order` names the dimensions from the fastest moving to the slowest.
    """

    vec: Int
    perPhase: Int
    maxPhase: Int
    order: Ints
    CGALayout: Bases = ()


class AmdRotatingShared(_Swizzled, name="ttg.amd_rotating_shared", alias="shared"):
    """`#ttg.amd_rotating_shared<{vec = 1, perPhase = 1, maxPhase = 4, order = [1, 0]}>`: swizzling that rotates.

    As `swizzled_shared`, but the phase is xored with the number of the group of perPhase * maxPhase rows as well.
    """

    vec: Int
    perPhase: Int
    maxPhase: Int
    order: Ints
    CGALayout: Bases = ()


class NvmmaShared(Shared, name="ttg.nvmma_shared", alias="shared"):
    """`#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>`: swizzled rows.

    Tiles as `wgmma`, `tcgen05.mma` and TMA copies read them: rows of `swizzlingByteWidth` bytes, swizzled.
    `transposed`: the first dimension is contiguous, not the last; `fp4Padded`: 4-bit elements are in the padded form
    of mixed-precision dots; `rank` is required if CGALayout does not determine it.
    """

    swizzlingByteWidth: Int
    transposed: Annotated[bool, BOOLEAN.hiding(lambda v, owner: False)] = False
    elementBitWidth: Int
    fp4Padded: Boolean = False
    rank: Annotated[int, INT.hiding(lambda v, owner: v == 2 or bool(owner.CGALayout))] = 0
    CGALayout: Bases = ()

    ctas = property(lambda self: 1 << len(self.CGALayout))
    alignment = property(lambda self: 128 * max(self.swizzlingByteWidth // 16, 1))

    @classmethod
    def complete(cls, given: dict[str, Any]) -> None:
        """Two dimensions where nothing tells how many."""
        given["rank"] = given["rank"] or rank_of_bases(given["CGALayout"]) or 2

    def check(self) -> str | None:
        """A swizzle there is."""
        if self.elementBitWidth <= 0:
            return f"elementBitWidth is {self.elementBitWidth}"
        if self.swizzlingByteWidth not in (0, 32, 64, 128):
            return f"swizzlingByteWidth is {self.swizzlingByteWidth}, it must be 0, 32, 64 or 128"
        return check_cga(self.CGALayout, self.rank)

    def check_buffer(self, buffer: MemDescType) -> str | None:
        """A row of one copy fills a row of the swizzle."""
        found = Shared.check_buffer(self, buffer)
        if found is not None or self.swizzlingByteWidth == 0:
            return found
        split = shape_of_bases(self.CGALayout, self.rank)
        block = [n // min(n, m) if n else 0 for n, m in zip(buffer.allocShape[-self.rank :], split)]
        size = min(block[0 if self.transposed else -1] * (2 if self.fp4Padded else 1), 256)
        least = 8 * self.swizzlingByteWidth // self.elementBitWidth
        if size < least:
            return f"the contiguous dimension of a block has {size} elements, the swizzle needs at least {least}"
        return None


_OFFSETS = {"offset": BASES, "block": BASES}


def _read_pairs(parser: Parser) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """`[64:+8, 128:+4]`"""

    def pair() -> tuple[int, int]:
        interval = parser.integer()
        parser.expect(":")
        parser.expect("+")
        return interval, parser.integer()

    parser.expect("[")
    pairs = parser.comma_list(pair, "]")
    return tuple(i for i, _ in pairs), tuple(p for _, p in pairs)


class PaddedShared(Shared, name="ttg.padded_shared", alias="shared"):
    """`#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [16, 64]}>`: padding between groups of elements.

    Element number i, counted by the bases of `offset`, stands at i + the sum over k of (i / interval k) * padding k:
    above, a gap of 8 elements behind each 64. Text says `order` and `shape` where the bases of `offset` just count in
    an order.
    """

    intervals: Ints
    paddings: Ints
    offset: Bases
    block: Bases = ()
    shape: Ints = ()

    rank = property(lambda self: len(self.shape))
    ctas = property(lambda self: 1 << len(self.block))

    @classmethod
    def from_order(
        cls, intervals: tuple[int, ...], paddings: tuple[int, ...], order: tuple[int, ...], shape: tuple[int, ...]
    ) -> PaddedShared:
        """The layout that counts the elements of `shape` in `order`, the fastest dimension first."""
        if len(order) != len(shape) or not is_permutation_of_dims(order):
            raise ValueError(f"order {list(order)} is no permutation of the dimensions of {list(shape)}")
        if not all(map(power_of_two, shape)):
            raise ValueError(f"the shape is {list(shape)}, it must hold powers of two")
        return cls(intervals, paddings, identity_bases(shape, order), (), shape)

    @classmethod
    def complete(cls, given: dict[str, Any]) -> None:
        """The shape follows from the bases where there are some."""
        bases = (*given["offset"], *given["block"])
        given["shape"] = given["shape"] or shape_of_bases(bases, rank_of_bases(bases))

    def check(self) -> str | None:
        """Pairs of powers of two; bases that move by a power of two along one dimension, those of elements apart."""
        if not self.intervals or len(self.intervals) != len(self.paddings):
            return f"{len(self.intervals)} intervals and {len(self.paddings)} paddings"
        if not all(map(power_of_two, self.intervals + self.paddings)):
            return "intervals and paddings must be powers of two"
        if len(set(self.intervals)) != len(self.intervals):
            return f"an interval is named twice: {list(self.intervals)}"
        bases = self.offset + self.block
        if not self.shape or any(len(basis) != self.rank or min(basis) < 0 for basis in bases):
            return f"the bases do not have {self.rank} dimensions" if self.shape else "at least one basis is required"
        if not moves_along_one(bases) or not all(power_of_two(n) for basis in bases for n in basis if n):
            return "a basis must move by a power of two along one dimension"
        moving = [basis for basis in self.offset if any(basis)]
        if len(moving) != len(self.offset) or len(set(moving)) != len(moving):
            return "two offsets hold the same element"
        if not is_surjective(bases, self.rank) or shape_of_bases(bases, self.rank) != self.shape:
            return "the bases must cover the tensor"
        return None

    def check_buffer(self, buffer: MemDescType) -> str | None:
        """The buffer has the shape of the layout."""
        found = Shared.check_buffer(self, buffer)
        shape = buffer.allocShape[-self.rank :] if len(buffer.allocShape) - self.rank in (0, 1) else buffer.allocShape
        if found is None and shape[: self.rank] != self.shape:
            return f"the layout is for the shape {list(self.shape)}, the buffer has {list(shape)}"
        return found

    def address(self, offset: int) -> int:
        """Includes the gaps before an offset.

        >>> PaddedShared.from_order((4,), (2,), (1, 0), (2, 4)).address(5)
        7
        """
        return offset + sum(offset // interval * gap for interval, gap in zip(self.intervals, self.paddings))

    def body(self, spell: Callable[[Any], str]) -> str:
        """`<[64:+8] {order = [1, 0], shape = [16, 32]}>`, or the bases of offset and block."""
        pairs = ", ".join(f"{i}:+{p}" for i, p in zip(self.intervals, self.paddings))
        order = order_of_bases(self.offset, self.rank)
        if not self.block and self.offset == identity_bases(self.shape, order):
            return f"<[{pairs}] {{order = {list(order)}, shape = {list(self.shape)}}}>"
        return f"<[{pairs}] {{offset = {written(self.offset)}, block = {written(self.block)}}}>"

    @classmethod
    def parse(cls, parser: Parser) -> PaddedShared:
        """The same, read."""
        at = parser.pos
        parser.expect("<")
        intervals, paddings = _read_pairs(parser)
        given: dict[str, Any] = {}
        parser.expect("{")
        read_entries(parser, "}", _OFFSETS | {"order": INTS, "shape": INTS}, "#ttg.padded_shared", given)
        parser.expect(">")
        try:
            if given.keys() == {"order", "shape"}:
                return cls.from_order(intervals, paddings, given["order"], given["shape"])
            if given.keys() == {"offset", "block"}:
                return cls(intervals, paddings, given["offset"], given["block"])
        except ValueError as error:
            raise parser.error(str(error), at) from None
        raise parser.error("a padded layout has either order and shape, or offset and block", at)


class SharedLinear(Shared, name="ttg.shared_linear", alias="shared"):
    """`#ttg.shared_linear<{offset = [[0, 1], [1, 0]]}, alignment = 16>`: any permutation of the bits of an offset.

    Bit k of an offset moves by basis k of `offset` in the tensor, bit k of the block's number by that of `block`.
    """

    offset: Bases
    block: Bases = ()
    alignment: Int = 16

    rank = property(lambda self: rank_of_bases(self.offset, self.block))
    ctas = property(lambda self: 1 << len(self.block))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the tensor."""
        return shape_of_bases(self.offset + self.block, self.rank)

    def check(self) -> str | None:
        """Zeros aside, one to one; an alignment that is a power of two."""
        bases = self.offset + self.block
        if not power_of_two(self.alignment):
            return f"the alignment is {self.alignment}, it must be a power of two"
        if self.rank == 0:
            return "at least one basis is required"
        if any(len(basis) != self.rank or min(basis) < 0 for basis in bases):
            return f"the bases do not have {self.rank} dimensions"
        numel = 1
        for n in self.shape:
            numel *= n
        if not is_surjective(bases, self.rank) or 1 << sum(map(any, bases)) != numel:
            return "without its zeros, it must be one to one"
        return None

    def check_buffer(self, buffer: MemDescType) -> str | None:
        """The buffer has the shape of the layout."""
        found = Shared.check_buffer(self, buffer)
        if found is None and buffer.allocShape[-self.rank :] != self.shape:
            return f"the layout is for the shape {list(self.shape)}, the buffer has {list(buffer.allocShape)}"
        return found

    def body(self, spell: Callable[[Any], str]) -> str:
        """`<{offset = [[0, 1], …]}, alignment = 16>`"""
        block = f", block = {written(self.block)}" if self.block else ""
        return f"<{{offset = {written(self.offset)}{block}}}, alignment = {self.alignment}>"

    @classmethod
    def parse(cls, parser: Parser) -> SharedLinear:
        """The same, read."""
        at = parser.pos
        parser.expect("<")
        given: dict[str, Any] = {}
        parser.expect("{")
        read_entries(parser, "}", _OFFSETS, "#ttg.shared_linear", given)
        parser.expect(",")
        parser.expect("alignment")
        parser.expect("=")
        given["alignment"] = parser.integer()
        parser.expect(">")
        found: SharedLinear = cls.build(parser, at, given)
        return found


MMA_SHARED = (NvmmaShared, SharedLinear)
"""Layouts that operands of MMA instructions may have in shared memory."""


class PartitionedShared(Shared, name="ttg.partitioned_shared", alias="shared"):
    """`#ttg.partitioned_shared<{numPartitions = 2, numGroups = 4, partitionDim = 0, partitionLayout = #shared}>`.

    A tensor divided along `partitionDim` into `numPartitions` * `numGroups` pieces, assigned to partitions cyclically.
    Each partition is a separate allocation; a piece has the layout `partitionLayout`.
    """

    numPartitions: Int
    numGroups: Int
    partitionDim: Int
    partitionLayout: Attr

    rank = property(lambda self: self.partitionLayout.rank)
    ctas = property(lambda self: self.partitionLayout.ctas)

    def check(self) -> str | None:
        """Powers of two; a dimension there is."""
        if not isinstance(self.partitionLayout, Shared):
            return f"partitionLayout must be a layout of shared memory, not {self.partitionLayout}"
        if self.numPartitions < 2 or not power_of_two(self.numPartitions):
            return f"numPartitions is {self.numPartitions}, it must be a power of two from 2 on"
        if not power_of_two(self.numGroups):
            return f"numGroups is {self.numGroups}, it must be a power of two"
        if not 0 <= self.partitionDim < self.rank:
            return f"partitionDim {self.partitionDim} is out of range for {self.rank} dimensions"
        return None


def padded_layout(layout: Attribute) -> PaddedShared | None:
    """The padded layout that this is, or that pieces have in this."""
    if isinstance(layout, PartitionedShared):
        layout = layout.partitionLayout
    return layout if isinstance(layout, PaddedShared) else None


# -- types --------------------------------------------------------------------------------------------------------


class AsyncTokenType(DialectType, name="ttg.async.token"):
    """`!ttg.async.token`: connects an asynchronous operation and its wait."""


_dimensions = {
    "x": re.compile(r"((?:\d+\s*x\s*)+)").match,
    "": re.compile(r"(\d+(?:\s*x\s*\d+)*)").match,
}


def _read_dimensions(parser: Parser, behind: str) -> tuple[int, ...]:
    """`128x64x`, or `128x64` with nothing behind."""
    m = _dimensions[behind](parser.text, parser.pos)
    if m is None:
        raise parser.expected("dimensions like 128x64" + behind)
    parser.skip_to(m.end())
    return tuple(int(d) for d in m[1].split("x") if d.strip())


class MemDescType(ShapedType, DialectType, name="ttg.memdesc"):
    """`!ttg.memdesc<128x64xf16, #shared, #smem, mutable, 3x128x64>`: a buffer, or a part of one.

    `shape` of what is seen, `allocShape` of the whole buffer it belongs to (text says it where they differ); a buffer
    that is not `mutable` is written once, when it is allocated.
    """

    shape: Ints
    element: Typ
    encoding: Attr
    memorySpace: Attr
    mutable: Boolean = False
    allocShape: Ints = ()

    @classmethod
    def complete(cls, given: dict[str, Any]) -> None:
        """The whole buffer, where nothing else is said."""
        given["allocShape"] = given["allocShape"] or given["shape"]

    def check(self) -> str | None:
        """Powers of two but for the first dimension; inside the allocation; what the layout demands."""
        shape, alloc = self.shape, self.allocShape
        if not shape:
            return "a buffer has at least one dimension"
        layout: Any = self.encoding
        if shape[0] <= 0 or not all(map(power_of_two, shape[1:])):
            return f"the shape is {list(shape)}, dimensions after the first must be powers of two"
        if len(alloc) < len(shape) or any(n > m for n, m in zip(shape, alloc[len(alloc) - len(shape) :])):
            return f"{list(shape)} is no part of {list(alloc)}"
        if not isinstance(layout, MemoryLayout):
            return f"{layout} is no layout of a buffer"
        if layout.space is not self.memorySpace:
            return f"the memory space must be {layout.space} for this layout, not {self.memorySpace}"
        return layout.check_buffer(self)

    def body(self, spell: Callable[[Any], str]) -> str:
        """`<128x64xf16, #shared, #smem, mutable, 3x128x64>`"""
        dims = "".join([f"{d}x" for d in self.shape])
        text = f"<{dims}{spell(self.element)}, {spell(self.encoding)}, {spell(self.memorySpace)}"
        if self.mutable:
            text += ", mutable"
        if self.allocShape != self.shape:
            text += f", {'x'.join(map(str, self.allocShape))}"
        return text + ">"

    @classmethod
    def parse(cls, parser: Parser) -> MemDescType:
        """The same, read."""
        at = parser.pos
        parser.expect("<")
        shape = _read_dimensions(parser, "x")
        element = parser.type()
        parser.expect(",")
        encoding = parser.attribute()
        parser.expect(",")
        given: dict[str, Any] = {"memorySpace": parser.attribute()}
        if parser.accept(","):
            given["mutable"] = parser.accept("mutable")
            if not given["mutable"] or parser.accept(","):
                given["allocShape"] = _read_dimensions(parser, "")
        parser.expect(">")
        given |= {"shape": shape, "element": element, "encoding": encoding}
        found: MemDescType = cls.build(parser, at, given)
        return found


def element_bits(ty: Type) -> int:
    """Bits of one element of a tensor or buffer; those of an address for a pointer."""
    element = element_type(ty)
    return 64 if isinstance(element, PointerType) else bit_width(element)
