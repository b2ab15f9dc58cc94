"""The layouts of Gluon: compile-time values with Triton's names, each with its attribute of the IR.

    BlockedLayout(size_per_thread=[1, 4], threads_per_warp=[4, 8], warps_per_cta=[4, 1], order=[1, 0])

`layout_of(attribute, shape)` is the way back, for layouts that follow from others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from ...dialects import gluon
from ...dialects import ttg_layouts as ttg
from ...dialects import ttg_memory as memory
from ...dialects.ttg_maps import linear_layout
from ...ir import Attribute
from ...layout.bases import identity_bases
from ..callee import constexpr_function
from ..errors import LanguageError
from .layout_base import (
    DistributedLayout,
    LayoutValue,
    SharedLayout,
    joined,
    joined_bases,
    plain,
    require_rank,
)

__all__ = [
    "AutoLayout",
    "BlockedLayout",
    "CoalescedLayout",
    "DistributedLayout",
    "DistributedLinearLayout",
    "DotOperandLayout",
    "LayoutValue",
    "NVMMADistributedLayout",
    "NVMMASharedLayout",
    "PaddedSharedLayout",
    "SharedLayout",
    "SharedLinearLayout",
    "SliceLayout",
    "SwizzledSharedLayout",
    "layout_of",
    "linear_form",
    "shape_per_cta",
    "warps_per_cta",
]

Bases = list[list[int]]


def as_tuples(bases: Bases | None) -> tuple[tuple[int, ...], ...]:
    """Bases as attributes of the IR have them."""
    return tuple(map(tuple, bases or ()))


# -- registers ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class AutoLayout(DistributedLayout):
    """A layout that follows from the uses of the tensor: see `set_auto_layout`."""

    is_chosen = False

    @property
    def rank(self) -> int:
        """Unknown."""
        raise ValueError("AutoLayout has no rank")

    def mangle(self) -> str:
        """`AL`"""
        return "AL"

    def _attribute(self) -> Any:
        return gluon.AutoEncoding()


@dataclass(frozen=True, eq=False)
class CoalescedLayout(DistributedLayout):
    """A layout in which adjacent threads access adjacent addresses, chosen from the loads and stores."""

    is_chosen = False

    @property
    def rank(self) -> int:
        """Unknown."""
        raise ValueError("CoalescedLayout has no rank")

    def mangle(self) -> str:
        """`CL`"""
        return "CL"

    def _attribute(self) -> Any:
        return gluon.CoalescedEncoding()


@dataclass(frozen=True, eq=False)
class BlockedLayout(DistributedLayout):
    """Tiles: `size_per_thread` elements a thread, then threads, warps and CTAs beside each other.

    `order` names the dimensions, the fastest moving first. `cga_layout` has a basis for each bit of the number of a CTA
    in its cluster.
    """

    size_per_thread: list[int]
    threads_per_warp: list[int]
    warps_per_cta: list[int]
    order: list[int]
    cga_layout: Bases = field(default_factory=list)

    def _check(self) -> None:
        require_rank(
            "BlockedLayout",
            len(self.size_per_thread),
            threads_per_warp=self.threads_per_warp,
            warps_per_cta=self.warps_per_cta,
            order=self.order,
        )

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.order)

    def mangle(self) -> str:
        """`B`, the fields, `B`"""
        parts = (self.size_per_thread, self.threads_per_warp, self.warps_per_cta, self.order)
        return f"B{'_'.join(map(joined, parts))}_{joined_bases(self.cga_layout)}B"

    def _attribute(self) -> ttg.Layout:
        sizes, threads, warps, order = self.size_per_thread, self.threads_per_warp, self.warps_per_cta, self.order
        return ttg.Blocked(tuple(sizes), tuple(threads), tuple(warps), tuple(order), as_tuples(self.cga_layout))


@dataclass(frozen=True, eq=False)
class SliceLayout(DistributedLayout):
    """The layout `parent` without its dimension `dim`: that of a reduction's result."""

    dim: int
    parent: DistributedLayout

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return self.parent.rank - 1

    @property
    def cga_layout(self) -> Bases:
        """The bases of CTAs of the parent without the dimension."""
        bases = getattr(self.parent, "cga_layout", None) or []
        return [basis[: self.dim] + basis[self.dim + 1 :] for basis in bases]

    def mangle(self) -> str:
        """`SL`, the fields, `SL`"""
        return f"SL{self.dim}_{self.parent.mangle()}SL"

    def _attribute(self) -> ttg.Layout:
        return ttg.Slice(self.dim, self.parent.attribute())


@dataclass(frozen=True, eq=False)
class DistributedLinearLayout(DistributedLayout):
    """A linear map: a basis for each bit of the number of the register, lane, warp and CTA, for a tensor of `shape`.

    Source: https://arxiv.org/abs/2505.23819.
    """

    reg_bases: Bases
    lane_bases: Bases
    warp_bases: Bases
    block_bases: Bases
    shape: list[int]

    def _check(self) -> None:
        for name in ("reg_bases", "lane_bases", "warp_bases", "block_bases"):
            for basis in getattr(self, name):
                require_rank("DistributedLinearLayout", len(self.shape), **{f"a basis of {name}": basis})

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    def mangle(self) -> str:
        """`DLL`, the fields, `DLL`"""
        return f"DLL{self.reg_bases}_{self.lane_bases}_{self.warp_bases}_{self.block_bases}_{self.shape}DLL"

    def _attribute(self) -> ttg.Layout:
        parts = [as_tuples(b) for b in (self.reg_bases, self.lane_bases, self.warp_bases, self.block_bases)]
        try:
            return ttg.Linear(*parts)
        except ValueError:
            return ttg.GenericLinear(*parts)


@dataclass(frozen=True, eq=False)
class DotOperandLayout(DistributedLayout):
    """Operand `operand_index` (0: left, 1: right) in registers of a dot whose accumulator has the layout `parent`.

    `k_width`: the number of elements along K that a thread holds next to each other.
    """

    operand_index: int
    parent: DistributedLayout
    k_width: int

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return self.parent.rank

    @property
    def cga_layout(self) -> Bases:
        """The bases of CTAs of the parent; those along K are zero."""
        along = self.rank - 1 if self.operand_index == 0 else self.rank - 2
        bases = getattr(self.parent, "cga_layout", None) or []
        return [[0 if d == along else n for d, n in enumerate(basis)] for basis in bases]

    def mangle(self) -> str:
        """`DO`, the fields, `DO`"""
        return f"DO{self.operand_index}_{self.parent.mangle()}_{self.k_width}DO"

    def _attribute(self) -> ttg.Layout:
        return ttg.DotOperand(self.operand_index, self.parent.attribute(), self.k_width)


@dataclass(frozen=True, eq=False)
class NVMMADistributedLayout(DistributedLayout):
    """Accumulators of NVIDIA's MMA instructions: version [2, 0] of `mma.sync`, [3, 0] of `wgmma`.

    `instr_shape` is the shape of one instruction, `warps_per_cta` the arrangement of the warps.
    """

    version: list[int]
    warps_per_cta: list[int]
    instr_shape: list[int]
    cga_layout: Bases = field(default_factory=list)

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.warps_per_cta)

    def mangle(self) -> str:
        """`MMA`, the fields, `MMA`"""
        return f"MMA_{self.version}_{self.warps_per_cta}_{self.instr_shape}_{joined_bases(self.cga_layout)}_MMA"

    def _attribute(self) -> ttg.Layout:
        return ttg.NvidiaMma(
            versionMajor=self.version[0],
            versionMinor=self.version[1],
            warpsPerCTA=tuple(self.warps_per_cta),
            CGALayout=as_tuples(self.cga_layout),
            instrShape=tuple(self.instr_shape),
        )


# -- shared memory ------------------------------------------------------------------------------------------------


def shape_per_cta(shape: Sequence[int], cga_layout: Bases | None) -> list[int]:
    """The shape of the part of a tensor that one CTA of a cluster holds. Raises for shapes that do not divide."""
    out = list(shape)
    for d in range(len(out)):
        parts = max([2 * basis[d] for basis in cga_layout or ()] or [0]) or 1
        if out[d] % parts:
            raise LanguageError(f"ValueError: the shape {out} is not divisible by the CGA layout {cga_layout}")
        out[d] //= parts
    return out


@dataclass(frozen=True, eq=False)
class NVMMASharedLayout(SharedLayout):
    """Rows of `swizzle_byte_width` bytes, swizzled as `wgmma` and TMA read them.

    `element_bitwidth` is 8, 16, 32 or 64; `transposed`: the first dimension is contiguous; `fp4_padded`: 4-bit elements
    in the padded form of mixed-precision dots.
    """

    swizzle_byte_width: int
    element_bitwidth: int
    rank: int = 2
    transposed: bool = False
    fp4_padded: bool = False
    cga_layout: Bases = field(default_factory=list)

    def _check(self) -> None:
        object.__setattr__(self, "cga_layout", self.cga_layout or [])
        if self.cga_layout:
            require_rank("NVMMASharedLayout", self.rank, **{"a basis of cga_layout": self.cga_layout[0]})
        if self.element_bitwidth not in (8, 16, 32, 64):
            raise LanguageError(f"ValueError: element_bitwidth is {self.element_bitwidth}, not 8, 16, 32 or 64")
        if self.swizzle_byte_width not in (0, 32, 64, 128):
            raise LanguageError(f"ValueError: swizzle_byte_width is {self.swizzle_byte_width}, not 0, 32, 64 or 128")
        if self.fp4_padded and (self.swizzle_byte_width, self.element_bitwidth) != (128, 8):
            raise LanguageError("ValueError: fp4_padded needs swizzle_byte_width=128 and element_bitwidth=8")

    @staticmethod
    @constexpr_function
    def get_default_for(
        block_shape: Any, dtype: Any, transposed: Any = False, fp4_padded: Any = False, cga_layout: Any = None
    ) -> NVMMASharedLayout:
        """The layout with the widest swizzle that rows of `block_shape` fill: the fewest TMA and MMA instructions."""
        shape = shape_per_cta(plain(block_shape), plain(cga_layout))
        rank, turned, padded = len(shape), bool(plain(transposed)), bool(plain(fp4_padded))
        if turned:
            shape = shape[1:] + shape[:1]
        row = shape[-1] * (2 if padded else 1) * dtype.primitive_bitwidth // 8
        swizzle = next((width for width in (128, 64, 32) if row % width == 0 and row >= width), 0)
        if rank < 2 or prod(shape[:-1]) < 8:
            swizzle = 0
        return NVMMASharedLayout(swizzle, dtype.primitive_bitwidth, rank, turned, padded, plain(cga_layout) or [])

    def mangle(self) -> str:
        """`NVMMA`, the fields, `NVMMA`"""
        parts = (self.swizzle_byte_width, self.element_bitwidth, self.rank, self.transposed, self.fp4_padded)
        return f"NVMMA_{joined(parts)}_{joined_bases(self.cga_layout)}_NVMMA"

    def _attribute(self) -> ttg.Layout:
        return memory.NvmmaShared(
            swizzlingByteWidth=self.swizzle_byte_width,
            transposed=self.transposed,
            elementBitWidth=self.element_bitwidth,
            fp4Padded=self.fp4_padded,
            rank=self.rank,
            CGALayout=as_tuples(self.cga_layout),
        )


@dataclass(frozen=True, eq=False)
class SwizzledSharedLayout(SharedLayout):
    """Rows whose groups of `vec` elements are exchanged by XOR with the row's phase, (row / per_phase) % max_phase."""

    vec: int
    per_phase: int
    max_phase: int
    order: list[int]
    cga_layout: Bases = field(default_factory=list)

    def mangle(self) -> str:
        """`SSS`, the fields, `SSS`"""
        parts = (self.vec, self.per_phase, self.max_phase)
        return f"SSS_{joined(parts)}_{joined(self.order)}_{joined_bases(self.cga_layout)}_SSS"

    def _attribute(self) -> ttg.Layout:
        bases = as_tuples(self.cga_layout)
        return memory.SwizzledShared(self.vec, self.per_phase, self.max_phase, tuple(self.order), bases)


@dataclass(frozen=True, eq=False)
class PaddedSharedLayout(SharedLayout):
    """Gaps between groups of elements: behind each `interval` elements, `padding` more, for each of the pairs.

    `offset_bases` say which element stands at which offset, bit by bit; `shape` is that of the tensor.
    """

    interval_padding_pairs: Bases
    offset_bases: Bases
    cga_layout: Bases
    shape: list[int]

    def _check(self) -> None:
        if not self.interval_padding_pairs:
            raise LanguageError("ValueError: PaddedSharedLayout needs at least one pair of an interval and a padding")
        for basis in (*self.offset_bases, *self.cga_layout):
            require_rank("PaddedSharedLayout", len(self.shape), **{"a basis": basis})
        self.attribute()

    @staticmethod
    @constexpr_function
    def with_identity_for(
        interval_padding_pairs: Any, shape: Any, order: Any, cga_layout: Any = ()
    ) -> PaddedSharedLayout:
        """The layout whose offsets count the elements of `shape` in `order`, the fastest dimension first."""
        shape, bases = plain(shape), plain(cga_layout) or []
        offsets = identity_bases(tuple(shape_per_cta(shape, bases)), tuple(plain(order)))
        return PaddedSharedLayout(plain(interval_padding_pairs), [list(b) for b in offsets], bases, shape)

    def mangle(self) -> str:
        """`PaddedShared`, the fields, `PaddedShared`"""
        fields = (self.interval_padding_pairs, self.offset_bases, self.cga_layout, self.shape)
        return f"PaddedShared_{joined(fields)}_PaddedShared"

    def _attribute(self) -> ttg.Layout:
        intervals, paddings = zip(*self.interval_padding_pairs)
        per_cta = shape_per_cta(self.shape, self.cga_layout)
        blocks = [[i * n for i, n in zip(basis, per_cta)] for basis in self.cga_layout]
        bases = as_tuples(self.offset_bases), as_tuples(blocks)
        return memory.PaddedShared(tuple(intervals), tuple(paddings), *bases, tuple(self.shape))


@dataclass(frozen=True, eq=False)
class SharedLinearLayout(SharedLayout):
    """A linear map from offsets to elements: bit k of an offset moves by `offset_bases[k]` in the tensor."""

    offset_bases: Bases
    block_bases: Bases = field(default_factory=list)
    alignment: int = 16

    def _check(self) -> None:
        if not self.offset_bases or not self.offset_bases[0]:
            raise LanguageError("ValueError: SharedLinearLayout needs at least one basis in offset_bases")
        for basis in (*self.offset_bases, *self.block_bases):
            require_rank("SharedLinearLayout", len(self.offset_bases[0]), **{"a basis": basis})

    @property
    def shape(self) -> list[int]:
        """The shape of the tensor."""
        bases = [*self.offset_bases, *self.block_bases]
        return [1 << max(basis[d] for basis in bases).bit_length() for d in range(self.rank)]

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.offset_bases[0])

    def mangle(self) -> str:
        """`SharedLinear`, the fields, `SharedLinear`"""
        return f"SharedLinear_{self.offset_bases}_{self.block_bases}_{self.alignment}_SharedLinear"

    def _attribute(self) -> ttg.Layout:
        return memory.SharedLinear(as_tuples(self.offset_bases), as_tuples(self.block_bases), self.alignment)


def warps_per_cta(layout: DistributedLayout, shape: Sequence[int]) -> list[int]:
    """The number of warps along each dimension of a tensor of `shape`; warps that hold the same elements count once.

    A slice and a dot operand have the warps of their parent, in its dimensions. Raises LanguageError for a layout that
    is not chosen yet.
    """
    if isinstance(layout, (SliceLayout, DotOperandLayout)):
        return warps_per_cta(layout.parent, shape)
    if isinstance(layout, DistributedLinearLayout):
        along = [next(d for d, step in enumerate(basis) if step) for basis in layout.warp_bases if any(basis)]
        return [1 << along.count(d) for d in range(len(shape))]
    found: list[int] | None = getattr(layout, "warps_per_cta", None)
    if found is None:
        raise LanguageError(f"ValueError: {type(layout).__name__} says nothing about warps")
    return found


# -- from the IR --------------------------------------------------------------------------------------------------


def as_lists(bases: Sequence[Sequence[int]]) -> Bases:
    """Bases as layouts of kernels have them."""
    return [list(b) for b in bases]


def _linear(a: Any, shape: Sequence[int]) -> LayoutValue:
    """The shape is that which the bases span: a broadcast or a new dimension of a tensor does not change its layout."""
    registers, lanes, warps, blocks = map(as_lists, (a.register, a.lane, a.warp, a.block))
    sizes = [1] * len(shape)
    for basis in (*registers, *lanes, *warps, *blocks):
        sizes = [max(n, 1 << at.bit_length()) for n, at in zip(sizes, basis)]
    return DistributedLinearLayout(registers, lanes, warps, blocks, sizes)


def _blocked(a: Any, shape: Sequence[int]) -> LayoutValue:
    sizes, threads, warps, order = map(list, (a.sizePerThread, a.threadsPerWarp, a.warpsPerCTA, a.order))
    return BlockedLayout(sizes, threads, warps, order, as_lists(a.CGALayout))


def _slice(a: Any, shape: Sequence[int]) -> LayoutValue:
    return SliceLayout(a.dim, layout_of(a.parent, [*shape[: a.dim], 1, *shape[a.dim :]]))


def _mma(a: Any, shape: Sequence[int]) -> LayoutValue:
    version = [a.versionMajor, a.versionMinor]
    return NVMMADistributedLayout(version, list(a.warpsPerCTA), list(a.instrShape), as_lists(a.CGALayout))


def _nvmma(a: Any, shape: Sequence[int]) -> LayoutValue:
    fields = (a.swizzlingByteWidth, a.elementBitWidth, a.rank, a.transposed, a.fp4Padded)
    return NVMMASharedLayout(*fields, as_lists(a.CGALayout))


def _part(a: memory.PaddedShared) -> list[int]:
    """The shape of the part of a padded buffer that one CTA holds."""
    return [max([1, *(2 * basis[d] for basis in a.offset)]) for d in range(len(a.shape))]


def _padded(a: memory.PaddedShared, shape: Sequence[int]) -> LayoutValue:
    pairs = [list(pair) for pair in zip(a.intervals, a.paddings)]
    bases = [[b // max(n, 1) for b, n in zip(basis, _part(a))] for basis in a.block]
    return PaddedSharedLayout(pairs, as_lists(a.offset), bases, list(a.shape))


LAYOUT_OF: dict[type[Attribute], Callable[[Any, Sequence[int]], LayoutValue]] = {
    gluon.AutoEncoding: lambda a, shape: AutoLayout(),
    gluon.CoalescedEncoding: lambda a, shape: CoalescedLayout(),
    ttg.Blocked: _blocked,
    ttg.Slice: _slice,
    ttg.Linear: _linear,
    ttg.GenericLinear: _linear,
    ttg.DotOperand: lambda a, shape: DotOperandLayout(a.opIdx, layout_of(a.parent, shape), a.kWidth),
    ttg.NvidiaMma: _mma,
    memory.NvmmaShared: _nvmma,
    memory.SwizzledShared: lambda a, shape: SwizzledSharedLayout(
        a.vec, a.perPhase, a.maxPhase, list(a.order), as_lists(a.CGALayout)
    ),
    memory.PaddedShared: _padded,
    memory.SharedLinear: lambda a, shape: SharedLinearLayout(as_lists(a.offset), as_lists(a.block), a.alignment),
}


def linear_form(layout: LayoutValue, shape: Sequence[int]) -> LayoutValue:
    """The linear layout that `layout` is for a tensor or buffer of `shape`. Raises where there is none."""
    try:
        bases = linear_layout(layout.attribute(), tuple(shape)).bases
    except ValueError as error:
        raise LanguageError(f"ValueError: {layout} for the shape {list(shape)}: {error}") from None
    if "offset" in bases:
        return SharedLinearLayout(
            as_lists(bases["offset"]), as_lists(bases.get("block", ())), layout.attribute().alignment
        )
    registers, lanes, warps, blocks = (as_lists(bases.get(name, ())) for name in ("register", "lane", "warp", "block"))
    return DistributedLinearLayout(registers, lanes, warps, blocks, list(shape))


def layout_of(attribute: Attribute, shape: Sequence[int]) -> Any:
    """The layout of an attribute of the IR, for a tensor or buffer of `shape`."""
    make = LAYOUT_OF.get(type(attribute))
    if make is None:
        raise LanguageError(f"ValueError: {attribute} is no layout that Gluon can name")
    return make(attribute, shape)
