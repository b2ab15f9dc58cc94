"""`triton.tools.LinearLayout`: layouts as linear maps, by the names that Triton's tools have for them."""

from __future__ import annotations

import itertools
import math
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

    def get_distributed_view(self, useHWPointOfView: bool) -> str:
        """Which register of which thread holds each element, as nested brackets; from the hardware's point of view, the
        elements of each warp: a row for each register, a column for each lane. ValueError for a layout of other inputs.
        """
        sizes = self._sizes("register", "lane", "warp")
        if useHWPointOfView:
            lines = []
            for block in range(sizes["block"]):
                lines += [f"Block{block}:"] * (sizes["block"] > 1)
                for warp in range(sizes["warp"]):
                    lines.append(f"Warp{warp}:")
                    for register in range(sizes["register"]):
                        at = [self._at(register=register, lane=i, warp=warp, block=block) for i in range(sizes["lane"])]
                        lines.append(", ".join(f"({','.join(map(str, point))})" for point in at))
            return "\n".join([*lines, ""])
        holders: dict[tuple[int, ...], list[str]] = {}
        for block, warp, lane, register in itertools.product(
            *(range(sizes[n]) for n in ("block", "warp", "lane", "register"))
        ):
            where = f"B{block}:" if sizes["block"] > 1 else ""
            point = self._at(register=register, lane=lane, warp=warp, block=block)
            holders.setdefault(point, []).append(f"{where}T{warp * sizes['lane'] + lane}:{register}")
        points = itertools.product(*(range(size) for size in self.layout.outs.values()))
        return self._bracketed(["|".join(holders.get(point, ())) for point in points], ", ")

    def get_shared_view(self, useHWPointOfView: bool) -> str:
        """Which element is at each offset of shared memory, as nested brackets of the tensor's shape; from the
        hardware's point of view a line for each offset. ValueError for a layout of other inputs."""
        sizes = self._sizes("offset")
        offsets = max(1, math.prod(self.layout.outs.values()) // sizes["block"])  # repeated elements are not shown
        places = list(itertools.product(range(sizes["block"]), range(offsets)))
        at = [self._at(offset=offset, block=block) for block, offset in places]
        if not useHWPointOfView:
            return self._bracketed([f"({':'.join(map(str, point))})" for point in at], ",")
        lines = []
        for (block, offset), point in zip(places, at):
            lines += [f"Block: {block}:"] * (offset == 0)
            lines.append(f"Offset: {offset} -> ({','.join(map(str, point))})")
        return "\n".join([*lines, ""])

    def _sizes(self, *names: str) -> dict[str, int]:
        """The sizes of the inputs, which are `names` and blocks."""
        if set(self.layout.ins) != {*names, "block"}:
            raise ValueError(f"the inputs must be {', '.join(names)} and block, and are {', '.join(self.layout.ins)}")
        return dict(self.layout.ins)

    def _at(self, **inputs: int) -> tuple[int, ...]:
        return tuple(self.layout.apply(**inputs).values())

    def _bracketed(self, texts: list[str], separator: str) -> str:
        """One text for each element, row-major, in nested brackets with a line for each row."""
        shape = list(self.layout.outs.values())
        whole = math.prod(shape)
        parts = []
        for number, text in enumerate(texts):
            opened = _run_of(number, shape) if number % whole else len(shape)
            closed = _run_of(number + 1, shape) if (number + 1) % whole else len(shape)
            indent = " " * (len(shape) - opened) if opened else ""
            parts.append(f"{'[' * opened}{indent}{text}{']' * closed + chr(10) if closed else separator}")
        return "".join(parts)

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


def _run_of(number: int, shape: Sequence[int]) -> int:
    """The number of innermost dimensions that restart at element `number`."""
    count, size = 0, 1
    for extent in reversed(shape):
        size *= extent
        if number % size:
            break
        count += 1
    return count
