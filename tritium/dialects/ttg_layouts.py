"""The layouts of tensors in registers: which thread of which warp of which block holds which element.

Every layout is a typed value; shapes, orders and bases are tuples of integers, dimension 0 first. `CGALayout` holds
the bases of the CTAs of a cluster: where bit k of a block's number moves in the tensor; none for a single block.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from ..ir import Attribute
from ..ir.parameters import (
    ATTR,
    BASES,
    BOOLEAN,
    INT,
    INTS,
    Bases,
    DialectAttribute,
    Int,
    Ints,
    Kind,
    power_of_two,
    read_entries,
    write_bases,
)
from ..layout.bases import (
    cta_bases,
    is_permutation,
    is_surjective,
    moves_along_one,
    rank_of_bases,
)
from ..support.lazy import LazyMethod

if TYPE_CHECKING:
    from ..ir.parser import Parser

__all__ = [
    "AmdMfma",
    "AmdWmma",
    "Blocked",
    "CtaLayout",
    "Distributed",
    "DotOperand",
    "GenericLinear",
    "Layout",
    "Linear",
    "LinearLayout",
    "Mma",
    "NvidiaMma",
    "Slice",
    "check_cga",
    "is_irregular",
    "is_permutation_of_dims",
]


def is_permutation_of_dims(order: tuple[int, ...]) -> bool:
    """Whether `order` names each of its dimensions once."""
    return sorted(order) == list(range(len(order)))


def check_cga(bases: tuple[tuple[int, ...], ...], rank: int) -> str | None:
    """What is wrong with the bases of the blocks for a layout of this rank."""
    wrong = next((basis for basis in bases if len(basis) != rank), None)
    if wrong is not None:
        return f"the entry {list(wrong)} of CGALayout has {len(wrong)} dimensions, the layout has {rank}"
    if any(n < 0 for basis in bases for n in basis) or not is_permutation(bases, rank):
        return "without its zeros, CGALayout must hold each bit of each dimension once"
    return None


class Layout(DialectAttribute):
    """Base of all layouts, of registers and of memory. `rank`: number of dimensions; `ctas`: CTAs per cluster."""

    rank: int
    ctas: int
    forgotten: ClassVar[tuple[str, ...]] = ()  # parameters of older texts that mean nothing any more
    _repr_mimebundle_ = LazyMethod("..support.display", __package__)  # what notebooks show

    @classmethod
    def read_other(cls, parser: Parser, key: str, given: dict[str, Any]) -> bool:
        """The older way to say CGALayout, by three lists; and what is forgotten."""
        if key in cls.forgotten:
            parser.attribute()
            return True
        older = ("CTAsPerCGA", "CTASplitNum", "CTAOrder")
        if key not in older or not any(p.name == "CGALayout" for p in cls.parameters):
            return False
        at = parser.pos
        given[key] = parser.integers()
        if all(name in given for name in older):
            per_cga, split, order = (given.pop(name) for name in older)
            good = len(per_cga) == len(split) == len(order) and is_permutation_of_dims(order)
            if not good or not all(power_of_two(n) and power_of_two(m) and m <= n for n, m in zip(per_cga, split)):
                raise parser.error(f"invalid CTAs of a cluster: {per_cga}, {split}, {order}", at)
            given["CGALayout"] = cta_bases(per_cga, split, order)
        return True


class Distributed(Layout):
    """Base of the layouts of tensors in registers. `lanes`: threads per warp; `warps`: warps per CTA."""

    lanes: int
    warps: int


class Mma(Distributed):
    """Base of the layouts of results of MMA instructions."""


class Blocked(Distributed, name="ttg.blocked", alias="blocked"):
    """`#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [2, 1], order = [1, 0]}>`: tiles.

    Each thread holds a tile of `sizePerThread`; threads of a warp are adjacent, then warps, then CTAs of a
    cluster, and a larger tensor repeats that. `order` names the dimensions from the fastest moving to the slowest. Of
    the layout above, warp 0 holds the rows 0 to 3 of an 8 x 16 tensor: thread 0 the elements 0 and 1 of row 0, thread 1
    the elements 2 and 3, thread 8 the first of row 1.
    """

    sizePerThread: Ints
    threadsPerWarp: Ints
    warpsPerCTA: Ints
    order: Ints
    CGALayout: Bases = ()

    rank = property(lambda self: len(self.order))
    lanes = property(lambda self: prod(self.threadsPerWarp))
    warps = property(lambda self: prod(self.warpsPerCTA))
    ctas = property(lambda self: 1 << len(self.CGALayout))

    def check(self) -> str | None:
        """All of one rank, powers of two, a permutation."""
        rank = len(self.order)
        for name in ("sizePerThread", "threadsPerWarp", "warpsPerCTA"):
            values = getattr(self, name)
            if len(values) != rank:
                return f"{name} has {len(values)} dimensions, order has {rank}"
            if not all(map(power_of_two, values)):
                return f"{name} is {list(values)}, it must hold powers of two"
        if not is_permutation_of_dims(self.order):
            return f"order must be a permutation of 0..(rank-1), but was {list(self.order)}"
        return check_cga(self.CGALayout, rank)


class LinearLayout(Distributed):
    """Base of the layouts defined by bases of register, lane, warp and block indices."""

    if TYPE_CHECKING:
        register: tuple[tuple[int, ...], ...]
        lane: tuple[tuple[int, ...], ...]
        warp: tuple[tuple[int, ...], ...]
        block: tuple[tuple[int, ...], ...]

    forgotten = ("order",)
    rank = property(lambda self: rank_of_bases(self.register, self.lane, self.warp, self.block))
    lanes = property(lambda self: 1 << len(self.lane))
    warps = property(lambda self: 1 << len(self.warp))
    ctas = property(lambda self: 1 << len(self.block))

    def check_bases(self) -> str | None:
        """There is a basis, and all have one rank and no negative entry."""
        bases = self.register + self.lane + self.warp + self.block
        rank = rank_of_bases(bases)
        if rank == 0:
            return "at least one basis is required"
        wrong = next((basis for basis in bases if len(basis) != rank or min(basis) < 0), None)
        return None if wrong is None else f"the basis {list(wrong)} does not fit to {rank} dimensions"


class Linear(LinearLayout, name="ttg.linear", alias="linear"):
    """`#ttg.linear<{register = [[0, 1]], lane = [[0, 2], [1, 0]], warp = [[2, 0]], block = []}>`: bits permuted.

    Bit k of the register's number moves by basis k of `register` in the tensor; likewise for the lane, the warp and the
    block. The element of several bits is the sum of theirs. A basis of zeros stands for copies; without those, each
    bit of each dimension has one basis.
    """

    register: Bases
    lane: Bases
    warp: Bases
    block: Bases

    def check(self) -> str | None:
        """A permutation of the bits, zeros aside."""
        found = self.check_bases()
        if found is None and not is_permutation(self.register + self.lane + self.warp + self.block, self.rank):
            return "without its zeros, it must hold each bit of each dimension once"
        return found


class GenericLinear(LinearLayout, name="ttg.generic_linear", alias="generic_linear"):
    """`#ttg.generic_linear<{register = [[0, 1]], lane = [[1, 0]], warp = [[1, 1]], block = []}>`: any bits for warps.

    As `linear`, but the bases of warps may move along several dimensions at once, and elements may be held twice.
    """

    register: Bases
    lane: Bases
    warp: Bases
    block: Bases

    def check(self) -> str | None:
        """Covers the tensor; only warps move along several dimensions."""
        found = self.check_bases()
        if found is not None:
            return found
        for name in ("register", "lane", "block"):
            if not moves_along_one(getattr(self, name)):
                return f"a basis of '{name}' moves along several dimensions, only those of 'warp' may"
        if not is_surjective(self.register + self.lane + self.warp + self.block, self.rank):
            return "it must cover the tensor"
        return None


class Slice(Distributed, name="ttg.slice"):
    """`#ttg.slice<{dim = 0, parent = #blocked}>`: the layout of a tensor without a dimension.

    What is left of `parent` without dimension `dim`. A reduction leaves its result in it, and `tt.expand_dims`
    takes such a tensor back to the parent.
    """

    dim: Int
    parent: Annotated[Distributed, ATTR]

    rank = property(lambda self: self.parent.rank - 1)
    lanes = property(lambda self: self.parent.lanes)
    warps = property(lambda self: self.parent.warps)
    ctas = property(lambda self: self.parent.ctas)

    def check(self) -> str | None:
        """A layout of registers with at least two dimensions, one of which is `dim`."""
        if not isinstance(self.parent, Distributed):
            return f"the parent must be a layout of registers, not {self.parent}"
        if self.parent.rank < 2:
            return f"the parent must have at least two dimensions: {self.parent}"
        if not 0 <= self.dim < self.parent.rank:
            return f"dim {self.dim} is out of range for a parent of {self.parent.rank} dimensions"
        return None


class NvidiaMma(Mma, name="ttg.nvidia_mma", alias="mma"):
    """`#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>`: MMA.

    The layout of results of tensor core instructions: version 2 is `mma.sync`, version 3 `wgmma`.
    `instrShape` is the shape of one instruction, `warpsPerCTA` the arrangement of warps.
    """

    versionMajor: Int
    versionMinor: Annotated[int, INT.hiding(lambda v, owner: False)] = 0
    warpsPerCTA: Ints
    CGALayout: Bases = ()
    instrShape: Ints

    rank = property(lambda self: len(self.warpsPerCTA))
    lanes = 32
    warps = property(lambda self: prod(self.warpsPerCTA))
    ctas = property(lambda self: 1 << len(self.CGALayout))

    def check(self) -> str | None:
        """A version that is known, whole numbers of warps."""
        if self.versionMajor not in (2, 3):
            return f"versionMajor is {self.versionMajor}, it must be 2 or 3"
        if not all(map(power_of_two, self.warpsPerCTA)):
            return f"warpsPerCTA is {list(self.warpsPerCTA)}, it must hold powers of two"
        return check_cga(self.CGALayout, self.rank)


_MFMA_SHAPES = ((32, 32), (16, 16), (64, 4), (4, 64))


class AmdMfma(Mma, name="ttg.amd_mfma", alias="mma"):
    """`#ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [32, 32, 8], isTransposed = true}>`: MFMA.

    The layout of results of MFMA instructions of CDNA GPUs (gfx908 is version 1, gfx90a 2, gfx942 3, gfx950 4).
    `instrShape` is (M, N, K) of one instruction; each warp holds `tilesPerWarp` tiles side by side; `isTransposed`:
    rows and columns of a tile are swapped.
    """

    version: Annotated[int, INT.hiding(lambda v, owner: False)] = 0
    warpsPerCTA: Ints
    instrShape: Ints
    isTransposed: Annotated[bool, BOOLEAN.hiding(lambda v, owner: False)] = False
    CGALayout: Bases = ()
    tilesPerWarp: Annotated[tuple[int, ...], INTS.hiding(lambda v, owner: set(v) <= {1})] = ()
    elementBitWidth: Int = 32

    forgotten = ("versionMajor", "versionMinor", "isTranspose")
    rank = property(lambda self: len(self.warpsPerCTA))
    lanes = 64
    warps = property(lambda self: prod(self.warpsPerCTA))
    ctas = property(lambda self: 1 << len(self.CGALayout))

    @classmethod
    def complete(cls, given: dict[str, Any]) -> None:
        """One tile a warp where nothing else is said."""
        given["tilesPerWarp"] = given["tilesPerWarp"] or (1,) * len(given["warpsPerCTA"])

    def check(self) -> str | None:
        """A version, an instruction and an element that there are."""
        if not 0 <= self.version <= 4:
            return f"version is {self.version}, it must be 0 to 4"
        if self.instrShape[:2] not in _MFMA_SHAPES:
            return f"there is no instruction of {list(self.instrShape[:2])} rows and columns"
        if self.elementBitWidth not in (32, 64):
            return f"elementBitWidth is {self.elementBitWidth}, it must be 32 or 64"
        return check_cga(self.CGALayout, self.rank)


_WMMA_SHAPES = {
    1: ((16, 16, 16),),
    2: ((16, 16, 16), (16, 16, 32)),
    3: ((16, 16, 4), (16, 16, 32), (16, 16, 64), (16, 16, 128), (32, 16, 64), (32, 16, 128)),
}

CtaLayout = tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]
"""Bases of registers and of warps, in tiles of one instruction."""


def _read_cta_layout(parser: Parser) -> CtaLayout:
    """`{register = [[0, 1]], warp = [[0, 2], [1, 0]]}`; either may be missing."""
    found: dict[str, Any] = {}
    parser.expect("{")
    read_entries(parser, "}", {"register": BASES, "warp": BASES}, "ctaLayout", found)
    return found.get("register", ()), found.get("warp", ())


def _write_cta_layout(v: CtaLayout, spell: Callable[[Any], str]) -> str:
    parts = [f"{name} = {write_bases(bases)}" for name, bases in zip(("register", "warp"), v) if bases]
    return f"{{{', '.join(parts)}}}"


_CTA_LAYOUT = Kind(lambda v: tuple(map(BASES.normal, v)), _read_cta_layout, _write_cta_layout)


class AmdWmma(Mma, name="ttg.amd_wmma", alias="mma"):
    """`#ttg.amd_wmma<{version = 2, isTranspose = false, ctaLayout = {warp = [[0, 1], [1, 0]]}}>`: WMMA.

    The layout of results of WMMA instructions of RDNA GPUs (gfx11 is version 1, gfx12 2, gfx1250 3).
    `ctaLayout` says which tile of one instruction's size each warp holds, and in which of its registers; `isTranspose`:
    rows and columns of a tile are swapped; `instrShape` is (M, N, K); `rank` is said where no basis tells it.
    """

    version: Int
    isTranspose: Annotated[bool, BOOLEAN.hiding(lambda v, owner: False)] = False
    ctaLayout: Annotated[CtaLayout, _CTA_LAYOUT]
    CGALayout: Bases = ()
    instrShape: Ints = (16, 16, 16)
    rank: Annotated[int, INT.hiding(lambda v, owner: v == 2 or any(owner.ctaLayout))] = 0

    lanes = 32
    warps = property(lambda self: 1 << len(self.ctaLayout[1]))
    ctas = property(lambda self: 1 << len(self.CGALayout))

    @classmethod
    def complete(cls, given: dict[str, Any]) -> None:
        """The rank is that of a basis; 2 where there is none."""
        given["rank"] = given["rank"] or rank_of_bases(*given["ctaLayout"]) or 2

    def check(self) -> str | None:
        """A version and an instruction that there are."""
        if self.version not in _WMMA_SHAPES:
            return f"version is {self.version}, it must be 1 to 3"
        if self.instrShape not in _WMMA_SHAPES[self.version]:
            return f"version {self.version} has no instruction of the shape {list(self.instrShape)}"
        if any(len(basis) != self.rank for bases in self.ctaLayout for basis in bases):
            return f"the bases of ctaLayout must have {self.rank} dimensions"
        if not is_surjective((*self.ctaLayout[0], *self.ctaLayout[1]), self.rank):
            return "ctaLayout must reach every tile below its largest"
        return check_cga(self.CGALayout, self.rank)


class DotOperand(Distributed, name="ttg.dot_op"):
    """`#ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>`: a dot operand.

    Operand `opIdx` (0: left, 1: right) of a `tt.dot` whose result has the layout `parent`.
    `kWidth`: how many elements along K a thread holds next to each other; 0 where the parent leaves no choice.
    """

    opIdx: Int
    parent: Annotated[Distributed, ATTR]
    kWidth: Int = 0

    rank = property(lambda self: self.parent.rank)
    lanes = property(lambda self: self.parent.lanes)
    warps = property(lambda self: self.parent.warps)
    ctas = property(lambda self: self.parent.ctas)

    def check(self) -> str | None:
        """A parent that has operands, and a kWidth it allows."""
        if self.opIdx not in (0, 1):
            return f"opIdx is {self.opIdx}, it must be 0 or 1"
        rule = _DOT_PARENTS.get(type(self.parent))
        if rule is None:
            return f"no operand has a layout for the parent {self.parent}"
        return rule(self)


def _nvidia_operand(layout: Any) -> str | None:
    if layout.kWidth == 0:
        return "kWidth must be given for a parent ttg.nvidia_mma"
    if layout.opIdx and layout.parent.versionMajor == 3:
        return "only operand 0 may be in registers for version 3"
    return None


def _wmma_operand(layout: Any) -> str | None:
    allowed = {1: (8, 16), 2: (4, 8, 16)}.get(layout.parent.version)
    if layout.kWidth == 0 or (allowed is not None and layout.kWidth not in allowed):
        words = " or ".join(map(str, allowed)) if allowed else "given"
        return f"kWidth must be {words} for ttg.amd_wmma of version {layout.parent.version}, it is {layout.kWidth}"
    return None


def _mfma_operand(layout: Any) -> str | None:
    return "kWidth must be given for a parent ttg.amd_mfma" if layout.kWidth == 0 else None


def _blocked_operand(layout: Any) -> str | None:
    return "there is no kWidth for a parent ttg.blocked" if layout.kWidth else None


_DOT_PARENTS: dict[type[Attribute], Callable[[Any], str | None]] = {
    NvidiaMma: _nvidia_operand,
    AmdWmma: _wmma_operand,
    AmdMfma: _mfma_operand,
    Blocked: _blocked_operand,
}


def is_irregular(layout: Attribute) -> bool:
    """Whether a layout of registers moves warps along several dimensions at once, or gives elements to several bits."""
    while isinstance(layout, (Slice, DotOperand)):
        layout = layout.parent
    if isinstance(layout, AmdWmma):
        return not is_permutation((*layout.ctaLayout[0], *layout.ctaLayout[1]), layout.rank)
    return isinstance(layout, GenericLinear)
