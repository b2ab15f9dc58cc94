"""`triton.tools.LinearLayout`: layouts as linear maps, by the names that Triton's tools have for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..layout.linear import LinearLayout as Layout

__all__ = ["LinearLayout"]

Bases = Sequence[tuple[str, Sequence[Sequence[int]]]]


class LinearLayout:
    """A linear map over GF(2) from named inputs to named outputs; `layout` is it as `tritium.layout` has it.

    >>> LinearLayout.strided_1d(4, 2, "lane", "dim0").apply({"lane": 3})
    {'dim0': 6}
    """

    __slots__ = ("layout",)

    def __init__(self, layout: Layout | None = None) -> None:
        self.layout = Layout.empty() if layout is None else layout

    # -- constructors -------------------------------------------------------------------------------------------------

    @staticmethod
    def identity_1d(size: int, inDim: str, outDim: str) -> LinearLayout:
        """out = in, below `size`."""
        return LinearLayout(Layout.identity_1d(size, inDim, outDim))

    @staticmethod
    def strided_1d(size: int, stride: int, inDim: str, outDim: str) -> LinearLayout:
        """out = in * stride, below `size * stride`."""
        return LinearLayout(Layout.strided_1d(size, stride, inDim, outDim))

    @staticmethod
    def zeros_1d(size: int, inDim: str, outDim: str, outDimSize: int = 1) -> LinearLayout:
        """out = 0 for `size` inputs."""
        return LinearLayout(Layout.zeros_1d(size, inDim, outDim, outDimSize))

    @staticmethod
    def from_bases(
        bases: Bases,
        out_dim_names: Sequence[str],
        out_dim_sizes: Sequence[int] | None = None,
        require_surjective: bool = True,
    ) -> LinearLayout:
        """Where the powers of two of each input go. Without sizes an output is as large as its largest basis needs.

        ValueError where outputs remain that no input reaches, unless `require_surjective` is False (it asks for sizes).
        """
        vectors = [vector for _, found in bases for vector in found]
        if out_dim_sizes is None:
            tops = [max((vector[i] for vector in vectors), default=0) for i in range(len(out_dim_names))]
            out_dim_sizes = [1 << top.bit_length() for top in tops]
        made = Layout(
            {name: [tuple(v) for v in found] for name, found in bases}, dict(zip(out_dim_names, out_dim_sizes))
        )
        if require_surjective and not made.is_surjective():
            raise ValueError(f"some outputs are never reached: {made}")
        return LinearLayout(made)

    # -- what it is ---------------------------------------------------------------------------------------------------

    @property
    def bases(self) -> list[tuple[str, list[list[int]]]]:
        """(input, where its powers of two go) in order."""
        return [(name, [list(v) for v in vectors]) for name, vectors in self.layout.bases.items()]

    @property
    def out_dims(self) -> list[tuple[str, int]]:
        """(output, size) in order."""
        return list(self.layout.outs.items())

    @property
    def num_in_dims(self) -> int:
        """How many inputs there are."""
        return len(self.layout.ins)

    @property
    def num_out_dims(self) -> int:
        """How many outputs there are."""
        return len(self.layout.outs)

    def get_in_dim_names(self) -> list[str]:
        """The inputs in order."""
        return list(self.layout.ins)

    def get_out_dim_names(self) -> list[str]:
        """The outputs in order."""
        return list(self.layout.outs)

    def get_matrix_view(self) -> list[list[int]]:
        """The matrix of zeros and ones: a row for each bit of the outputs, a column for each bit of the inputs."""
        outs = list(self.layout.outs.items())
        bits = [(i, bit) for i, (_, size) in enumerate(outs) for bit in range(size.bit_length() - 1)]
        columns = [vector for vectors in self.layout.bases.values() for vector in vectors]
        return [[vector[i] >> bit & 1 for vector in columns] for i, bit in bits]

    def is_surjective(self) -> bool:
        """Is every output reached?"""
        return self.layout.is_surjective()

    def is_injective(self) -> bool:
        """Do no two inputs meet?"""
        return self.layout.is_injective()

    def is_invertible(self) -> bool:
        """Both."""
        return self.layout.is_invertible()

    # -- what can be done with it -------------------------------------------------------------------------------------

    def apply(self, inputs: Mapping[str, int]) -> dict[str, int]:
        """Where these inputs go: a coordinate of each output."""
        return self.layout.apply(**inputs)

    def compose(self, outer: LinearLayout) -> LinearLayout:
        """First this, then `outer`."""
        return LinearLayout(self.layout.compose(outer.layout))

    def invert(self) -> LinearLayout:
        """From outputs back to inputs; ValueError where that is no function."""
        return LinearLayout(self.layout.invert())

    def pseudoinvert(self) -> LinearLayout:
        """From outputs to the smallest inputs that reach them."""
        return LinearLayout(self.layout.pseudoinvert())

    def invert_and_compose(self, other: LinearLayout) -> LinearLayout:
        """First this, then back through `other`: its inputs that hold what these inputs do."""
        return LinearLayout(self.layout.invert_and_compose(other.layout))

    def __mul__(self, other: LinearLayout) -> LinearLayout:
        return LinearLayout(self.layout * other.layout)

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, LinearLayout) and self.layout is other.layout

    def __hash__(self) -> int:
        return hash(self.layout)

    def __str__(self) -> str:
        lines = []
        for name, vectors in self.layout.bases.items():
            rows = [f"{name}={1 << i} -> ({', '.join(map(str, v))})" for i, v in enumerate(vectors)]
            lines.append(f" - {chr(10).join(rows)}" if len(rows) < 2 else " - " + "\n   ".join(rows))
        sizes = ", ".join(f"{name} (size {size})" for name, size in self.out_dims)
        return "\n" + "\n".join([*lines, f"where out dims are: [{sizes}]"])

    __repr__ = __str__
