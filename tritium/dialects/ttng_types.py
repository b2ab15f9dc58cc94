"""The types, attributes and enumerations of the ttng dialect."""

from __future__ import annotations

import enum
from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, Annotated, Any

from ..ir import Attribute, FloatAttr, IntegerAttr, IntegerType, TensorType, Type, enum_field, f32, i32
from ..ir.parameters import (
    ATTR,
    Bases,
    Boolean,
    DialectAttribute,
    DialectType,
    Int,
    Ints,
    Kind,
    Typ,
    keyword_kind,
    power_of_two,
)
from ..layout.bases import shape_of_bases
from .tt_types import CacheModifier
from .ttg_layouts import check_cga
from .ttg_memory import MemDescType, MemoryLayout, element_bits

if TYPE_CHECKING:
    from ..ir.parser import Parser

__all__ = [
    "CachePolicy",
    "EvictionPriority",
    "LoadReduction",
    "LoadReductionAttr",
    "PackedArithKind",
    "PackedArithKindField",
    "ScalesOrder",
    "ScalesOrderAttr",
    "TensorDescIm2ColType",
    "TensorMemory",
    "TensorMemoryScales",
    "TensorMemorySpace",
    "TmemWaitKind",
    "TmemWaitKindField",
]

# -- enumerations -------------------------------------------------------------------------------------------------


class EvictionPriority(enum.IntEnum):
    """Eviction priority of a cache line in a level of the cache."""

    none = 0
    evict_normal = 1
    evict_unchanged = 2
    evict_first = 3
    evict_last = 4
    no_allocate = 5


class TmemWaitKind(enum.IntEnum):
    """The accesses of tensor memory that a wait waits for."""

    load = 0
    store = 1


class LoadReduction(enum.IntEnum):
    """Reductions of rows by a load of tensor memory."""

    min = 1
    max = 2


class PackedArithKind(enum.IntEnum):
    """The operation of an instruction for packed elements."""

    add = 0
    sub = 1
    mul = 2
    fma = 3
    min = 4
    max = 5


class ScalesOrder(enum.IntEnum):
    """The order of repeated blocks of scales along the columns of tensor memory."""

    mnThenK = 0
    kThenMn = 1


TmemWaitKindField = Annotated[TmemWaitKind, enum_field(TmemWaitKind)]
PackedArithKindField = Annotated[PackedArithKind, enum_field(PackedArithKind)]


class LoadReductionAttr(DialectAttribute, name="ttng.redOp", form="list"):
    """`#ttng.redOp<max>`: a `LoadReduction` as an attribute."""

    value: Annotated[LoadReduction, keyword_kind(LoadReduction)]


class ScalesOrderAttr(DialectAttribute, name="ttng.blockRepOrder", form="list"):
    """`#ttng.blockRepOrder<kThenMn>`: a `ScalesOrder` as an attribute."""

    value: Annotated[ScalesOrder, keyword_kind(ScalesOrder)]


# -- attributes ---------------------------------------------------------------------------------------------------

Priority = Annotated[EvictionPriority, keyword_kind(EvictionPriority)]


def _optional(cls: type[Attribute]) -> Kind:
    """An attribute of this class, or none."""

    def normal(v: Any) -> Any:
        if not isinstance(v, cls):
            raise ValueError(f"{v} is no {cls.__name__}")
        return v

    return Kind(normal, ATTR.read, ATTR.write, lambda v, owner: v is None)


class _Keyed(DialectAttribute):
    """Mixin: named parameters in angle brackets, which are printed even if they are empty."""

    def body(self, spell: Callable[[Any], str]) -> str:
        """`<blockM = 128, twoCTAs = true>`"""
        return super().body(spell) or "<>"


class CachePolicy(_Keyed, name="ttng.cache_policy", form="keyed"):
    """Cache hints of an access on NVIDIA GPUs: without effect on results and memory order.

    Of the lines that come into the second level, the share `l2_fraction` gets the priority `l2_primary`, the rest
    `l2_secondary`; `l2_prefetch_size` bytes are fetched at a time.
    """

    cache_modifier: Annotated[CacheModifier, keyword_kind(CacheModifier)] = CacheModifier.none
    l1: Priority = EvictionPriority.none
    l2_primary: Priority = EvictionPriority.none
    l2_secondary: Priority = EvictionPriority.none
    l2_fraction: Annotated[FloatAttr | None, _optional(FloatAttr)] = None
    l2_prefetch_size: Annotated[IntegerAttr | None, _optional(IntegerAttr)] = None

    def check(self) -> str | None:
        """Not both ways to speak of the first level; of the second, priorities it has, for a share of the lines."""
        none = EvictionPriority.none
        if self.cache_modifier is not CacheModifier.none and self.l1 is not none:
            return "a cache modifier and a priority of the first level exclude each other"
        given = {self.l2_primary is not none, self.l2_secondary is not none, self.l2_fraction is not None}
        if len(given) > 1:
            return "l2_primary, l2_secondary and l2_fraction need each other"
        if self.l2_primary is EvictionPriority.no_allocate:
            return "l2_primary cannot be no_allocate"
        if self.l2_secondary not in (none, EvictionPriority.evict_first, EvictionPriority.evict_unchanged):
            return f"l2_secondary is {self.l2_secondary.name}, it must be evict_first or evict_unchanged"
        fraction, size = self.l2_fraction, self.l2_prefetch_size
        if fraction is not None and not (fraction.type is f32 and 0 < fraction.value <= 1):
            return f"l2_fraction is {fraction}, it must be an f32 above 0, at most 1"
        if size is not None and not (size.type is i32 and size.value in (64, 128, 256)):
            return f"l2_prefetch_size is {size}, it must be 64, 128 or 256 as an i32"
        return None


class TensorMemorySpace(DialectAttribute, name="ttng.tensor_memory"):
    """Tensor memory of Blackwell GPUs: 128 rows of 512 columns of 32 bits per CTA."""


class TensorMemoryLayout(_Keyed, MemoryLayout):
    """Base of the layouts of buffers in tensor memory."""

    space = TensorMemorySpace()
    rank = 2


class TensorMemory(TensorMemoryLayout, name="ttng.tensor_memory_encoding", form="keyed", alias="tmem"):
    """A matrix in tiles of `blockM` rows and `blockN` columns, in column-major order of tiles.

    Elements of a row are `colStride` elements apart; `twoCTAs`: two blocks hold a tile together, for instructions that
    both take part in; `fp4Padded`: 4-bit elements are padded as for mixed-precision MMA.
    """

    blockM: Int
    blockN: Int
    colStride: Int
    CGALayout: Bases = ()
    twoCTAs: Boolean = False
    fp4Padded: Boolean = False

    ctas = property(lambda self: 1 << len(self.CGALayout))

    def check(self) -> str | None:
        """Tiles that instructions have."""
        if self.blockM not in (64, 128):
            return f"blockM is {self.blockM}, it must be 64 or 128"
        if not power_of_two(self.blockN) or self.blockN > 512:
            return f"blockN is {self.blockN}, it must be a power of two, at most 512"
        if self.colStride not in (1, 2, 4):
            return f"colStride is {self.colStride}, it must be 1, 2 or 4"
        if self.fp4Padded and self.colStride != 1:
            return f"with fp4Padded colStride must be 1, not {self.colStride}"
        if self.twoCTAs and self.CGALayout[:1] != ((1, 0),):
            return "with twoCTAs the first entry of CGALayout must be [1, 0]"
        return check_cga(self.CGALayout, 2)

    def check_buffer(self, buffer: MemDescType) -> str | None:
        """A matrix, or several after each other, of at least one tile."""
        shape = buffer.allocShape
        if len(buffer.shape) not in (2, 3) or len(shape) not in (2, 3):
            return f"a buffer of tensor memory has 2 dimensions, or 3 with its copies, not {len(shape)}"
        split = shape_of_bases(self.CGALayout, 2)
        least = self.blockM * split[0], min(self.blockN, buffer.shape[-1]) * split[1]
        if any(n < m for n, m in zip(shape[-2:], least)):
            return f"a buffer of this layout has at least {least[0]}x{least[1]} elements, not {shape[-2]}x{shape[-1]}"
        if element_bits(buffer) * self.colStride > 32:
            return f"elements of {element_bits(buffer)} bits cannot be {self.colStride} apart in columns of 32 bits"
        return None


class TensorMemoryScales(
    TensorMemoryLayout, name="ttng.tensor_memory_scales_encoding", form="keyed", alias="tmem_scales"
):
    """The scales of a block-scaled MMA: blocks of 32x4 values of 32 bits, replicated for each of four warps.

    `blockRepOrder` says which dimension of the scales the blocks follow first.
    """

    CGALayout: Bases = ()
    blockRepOrder: Annotated[ScalesOrder, keyword_kind(ScalesOrder)] = ScalesOrder.mnThenK

    ctas = property(lambda self: 1 << len(self.CGALayout))

    def check(self) -> str | None:
        """Two dimensions."""
        return check_cga(self.CGALayout, 2)

    def check_buffer(self, buffer: MemDescType) -> str | None:
        """A matrix of bytes, or several after each other."""
        if len(buffer.shape) not in (2, 3):
            return f"scales have 2 dimensions, or 3 with their copies, not {len(buffer.shape)}"
        if element_bits(buffer) != 8:
            return f"scales are bytes, not {buffer.element}"
        return None


# -- types --------------------------------------------------------------------------------------------------------


class TensorDescIm2ColType(DialectType, name="ttng.tensordesc_im2col"):
    """`!ttng.tensordesc_im2col<64x128xf16, #shared>`: a tensor for im2col copies.

    `shape` and `element` are those of the matrix, `sharedLayout` is that of the buffers it is copied to.
    """

    shape: Ints
    element: Typ
    sharedLayout: Annotated[Attribute | None, _optional(Attribute)] = None

    def check(self) -> str | None:
        """A matrix."""
        return None if len(self.shape) == 2 else f"it describes matrices, not blocks of {len(self.shape)} dimensions"

    @property
    def block(self) -> TensorType:
        """The type of a block in registers; integers have no sign there."""
        element: Type = self.element
        if isinstance(element, IntegerType):
            element = IntegerType(element.width)
        return TensorType(self.shape, element)

    @property
    def numel(self) -> int:
        """Elements of a block."""
        return prod(self.shape)

    def body(self, spell: Callable[[Any], str]) -> str:
        """`<64x128xf16, #shared>`"""
        layout = f", {spell(self.sharedLayout)}" if self.sharedLayout is not None else ""
        return f"<{''.join(f'{d}x' for d in self.shape)}{spell(self.element)}{layout}>"

    @classmethod
    def parse(cls, parser: Parser) -> TensorDescIm2ColType:
        """The same, read."""
        at = parser.pos
        parser.expect("<")
        given: dict[str, Any] = {"shape": parser.dimensions(), "element": parser.type()}
        if parser.accept(","):
            given["sharedLayout"] = parser.attribute()
        parser.expect(">")
        found: TensorDescIm2ColType = cls.build(parser, at, given)
        return found
