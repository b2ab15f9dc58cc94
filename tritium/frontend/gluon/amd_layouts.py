"""The layouts of AMD GPUs: results of matrix instructions, and buffers in several partitions of shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...dialects import ttg_layouts as ttg
from ...dialects import ttg_memory as memory
from ..errors import LanguageError
from .layout_base import DistributedLayout, LayoutValue, SharedLayout, joined, joined_bases, require_rank
from .layouts import LAYOUT_OF, Bases, as_lists, as_tuples, layout_of

__all__ = ["AMDMFMALayout", "AMDWMMALayout", "PartitionedSharedLayout"]


@dataclass(frozen=True, eq=False)
class AMDMFMALayout(DistributedLayout):
    """Accumulators of MFMA instructions: version 1 of gfx908, 2 of gfx90a, 3 of gfx942, 4 of gfx950.

    `instr_shape` is (M, N, K) of one instruction; `transposed`: a thread holds neighbours of a row; `tiles_per_warp`
    are the tiles that each warp holds side by side.
    """

    version: int
    instr_shape: list[int]
    transposed: bool
    warps_per_cta: list[int]
    element_bitwidth: int | None = None
    tiles_per_warp: list[int] | None = None
    cga_layout: Bases = field(default_factory=list)

    def _check(self) -> None:
        object.__setattr__(self, "element_bitwidth", self.element_bitwidth or 32)
        object.__setattr__(self, "tiles_per_warp", self.tiles_per_warp or [1] * len(self.warps_per_cta))
        if not 1 <= self.version <= 4:
            raise LanguageError(f"ValueError: AMDMFMALayout: version is {self.version}, it must be 1 to 4")
        if len(self.instr_shape) != 3:
            raise LanguageError(f"ValueError: AMDMFMALayout: instr_shape is (M, N, K), not {self.instr_shape}")
        for basis in self.cga_layout:
            require_rank("AMDMFMALayout", self.rank, **{"a basis of cga_layout": basis})
        self.attribute()

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.warps_per_cta)

    def mangle(self) -> str:
        """`MFMA`, the fields, `MFMA`"""
        shape, warps, tiles = map(joined, (self.instr_shape, self.warps_per_cta, self.tiles_per_warp))
        parts = (self.version, shape, self.transposed, warps, self.element_bitwidth, tiles)
        return f"MFMA_{joined(parts)}_{joined_bases(self.cga_layout)}_MFMA"

    def _attribute(self) -> ttg.Layout:
        return ttg.AmdMfma(
            version=self.version,
            warpsPerCTA=tuple(self.warps_per_cta),
            instrShape=tuple(self.instr_shape),
            isTransposed=self.transposed,
            CGALayout=as_tuples(self.cga_layout),
            tilesPerWarp=tuple(self.tiles_per_warp or ()),
            elementBitWidth=self.element_bitwidth,
        )


@dataclass(frozen=True, eq=False)
class AMDWMMALayout(DistributedLayout):
    """Accumulators of WMMA instructions: version 1 of RDNA3, 2 of RDNA4, 3 of CDNA5.

    `warp_bases` and `reg_bases` count tiles of one instruction: which tile a warp holds, and in which of its registers.
    """

    version: int
    transposed: bool
    warp_bases: Bases
    reg_bases: Bases | None = None
    instr_shape: list[int] | None = None
    cga_layout: Bases = field(default_factory=list)
    rank: int | None = None  # type: ignore[assignment]  # a field here, a property of other layouts

    def _check(self) -> None:
        defaults = {"reg_bases": [], "instr_shape": [16, 16, 16], "rank": 2}
        for name, value in defaults.items():
            object.__setattr__(self, name, getattr(self, name) or value)
        if not 1 <= self.version <= 3:
            raise LanguageError(f"ValueError: AMDWMMALayout: version is {self.version}, it must be 1 to 3")
        for name in ("warp_bases", "reg_bases", "cga_layout"):
            for basis in getattr(self, name):
                require_rank("AMDWMMALayout", self.rank or 2, **{f"a basis of {name}": basis})

    @property
    def warps_per_cta(self) -> list[int]:
        """The number of warps along each dimension; warps that hold the same elements count once."""
        along = [next(d for d, step in enumerate(basis) if step) for basis in self.warp_bases if any(basis)]
        return [1 << along.count(d) for d in range(self.rank or 2)]

    def mangle(self) -> str:
        """`WMMA`, the fields, `WMMA`"""
        warps, registers, ctas = map(joined_bases, (self.warp_bases, self.reg_bases, self.cga_layout))
        parts = (self.version, self.transposed, warps, registers, joined(self.instr_shape), ctas, self.rank)
        return f"WMMA_{joined(parts)}_WMMA"

    def _attribute(self) -> ttg.Layout:
        return ttg.AmdWmma(
            version=self.version,
            isTranspose=self.transposed,
            ctaLayout=(as_tuples(self.reg_bases), as_tuples(self.warp_bases)),
            CGALayout=as_tuples(self.cga_layout),
            instrShape=tuple(self.instr_shape or ()),
            rank=self.rank,
        )


@dataclass(frozen=True, eq=False)
class PartitionedSharedLayout(SharedLayout):
    """A buffer divided along `partition_dim` into pieces of `partition_layout`, assigned to partitions in turn."""

    num_partitions: int
    num_groups: int
    partition_dim: int
    partition_layout: SharedLayout

    def _check(self) -> None:
        if not isinstance(self.partition_layout, SharedLayout):
            raise LanguageError(
                f"TypeError: partition_layout must be a layout of shared memory, not {self.partition_layout!r}"
            )
        for name in ("num_partitions", "num_groups"):
            value = getattr(self, name)
            if value < 1 or value & (value - 1):
                raise LanguageError(f"ValueError: {name} is {value}, it must be a power of two")

    def mangle(self) -> str:
        """`PartitionedShared`, the fields, `PartitionedShared`"""
        parts = (self.num_partitions, self.num_groups, self.partition_dim, self.partition_layout.mangle())
        return f"PartitionedShared_{joined(parts)}_PartitionedShared"

    def _attribute(self) -> ttg.Layout:
        return memory.PartitionedShared(
            numPartitions=self.num_partitions,
            numGroups=self.num_groups,
            partitionDim=self.partition_dim,
            partitionLayout=self.partition_layout.attribute(),
        )


def _mfma(a: ttg.AmdMfma, shape: Sequence[int]) -> LayoutValue:
    fields = (a.version, list(a.instrShape), a.isTransposed, list(a.warpsPerCTA), a.elementBitWidth)
    return AMDMFMALayout(*fields, list(a.tilesPerWarp), as_lists(a.CGALayout))


def _wmma(a: ttg.AmdWmma, shape: Sequence[int]) -> LayoutValue:
    registers, warps = map(as_lists, a.ctaLayout)
    fields = (a.version, a.isTranspose, warps, registers, list(a.instrShape))
    return AMDWMMALayout(*fields, as_lists(a.CGALayout), a.rank)


LAYOUT_OF.update(
    {
        ttg.AmdMfma: _mfma,
        ttg.AmdWmma: _wmma,
        memory.PartitionedShared: lambda a, shape: PartitionedSharedLayout(
            a.numPartitions, a.numGroups, a.partitionDim, layout_of(a.partitionLayout, shape)
        ),
    }
)
