"""The layouts of tensor memory of Blackwell GPUs. Instructions on it are refused where a kernel uses them."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...dialects import ttng_types
from ...dialects.ttg_layouts import Layout
from ..errors import LanguageError
from .layout_base import LayoutValue, joined_bases, require_rank
from .layouts import Bases, as_tuples

__all__ = ["OrderedTensorMemoryScalesLayout", "TensorMemoryLayout", "TensorMemoryScalesLayout"]


@dataclass(frozen=True, eq=False)
class TensorMemoryLayout(LayoutValue):
    """A matrix in tiles of `block` rows and columns, whose neighbours in a row are `col_stride` columns apart.

    `two_ctas`: two CTAs hold a tile together; `fp4_padded`: 4-bit elements take a byte each.
    """

    block: list[int]
    col_stride: int
    cga_layout: Bases = field(default_factory=list)
    two_ctas: bool = False
    fp4_padded: bool = False

    def _check(self) -> None:
        require_rank("TensorMemoryLayout", 2, block=self.block)
        for basis in self.cga_layout:
            require_rank("TensorMemoryLayout", 2, **{"a basis of cga_layout": basis})
        if self.col_stride < 1 or self.col_stride & (self.col_stride - 1):
            raise LanguageError(f"ValueError: TensorMemoryLayout: col_stride is {self.col_stride}, not a power of two")

    def mangle(self) -> str:
        """`TL`, the fields, `TL`"""
        marks = "2CT" * self.two_ctas + "FP4P" * self.fp4_padded
        rows, columns = self.block
        return f"TL{rows}x{columns}C{self.col_stride}{joined_bases(self.cga_layout)}{marks}TL"

    def _attribute(self) -> Layout:
        rows, columns = self.block
        bases = as_tuples(self.cga_layout)
        return ttng_types.TensorMemory(rows, columns, self.col_stride, bases, self.two_ctas, self.fp4_padded)


@dataclass(frozen=True, eq=False)
class TensorMemoryScalesLayout(LayoutValue):
    """The scales of a block-scaled MMA."""

    cga_layout: Bases = field(default_factory=list)

    def _check(self) -> None:
        for basis in self.cga_layout:
            require_rank("TensorMemoryScalesLayout", 2, **{"a basis of cga_layout": basis})

    def mangle(self) -> str:
        """`TLS`, the bases, `TLS`"""
        return f"TLS{joined_bases(self.cga_layout)}TLS"

    def _attribute(self) -> Layout:
        return ttng_types.TensorMemoryScales(as_tuples(self.cga_layout))


@dataclass(frozen=True, eq=False)
class OrderedTensorMemoryScalesLayout(TensorMemoryScalesLayout):
    """The scales of a block-scaled MMA of Rubin GPUs: blocks follow M or N first, or K ("kThenMn")."""

    block_rep_order: str = "mnThenK"

    def _check(self) -> None:
        super()._check()
        orders = ttng_types.ScalesOrder.__members__
        if self.block_rep_order not in orders:
            raise LanguageError(f"ValueError: block_rep_order is {self.block_rep_order!r}, not one of {list(orders)}")

    def mangle(self) -> str:
        """`TLS`, the fields, `TLS`"""
        return f"TLS{self.block_rep_order}_{joined_bases(self.cga_layout)}TLS"

    def _attribute(self) -> Layout:
        order = ttng_types.ScalesOrder[self.block_rep_order]
        return ttng_types.TensorMemoryScales(as_tuples(self.cga_layout), order)
