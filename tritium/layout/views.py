"""Layouts of a tensor seen in another way: transposed, in another shape, every second element of it.

renamed_dims(layout, order)    dimension k of the result is dimension order[k]
reshaped(layout, shape)        the same elements in row-major order
without_pairs(layout, axis)    neighbours along `axis` that one thread holds become one
"""

from __future__ import annotations

from collections.abc import Sequence

from .linear import LinearLayout
from .tiling import dimension_names

__all__ = ["renamed_dims", "reshaped", "unique_registers", "without_pairs"]


def renamed_dims(layout: LinearLayout, order: Sequence[int]) -> LinearLayout:
    """The layout of the tensor whose dimension k is dimension order[k] of this one's."""
    names = dimension_names(len(order))
    return layout.renamed({f"dim{d}": f"dim{k}" for k, d in enumerate(order)}).reordered(outs=names)


def reshaped(layout: LinearLayout, shape: Sequence[int]) -> LinearLayout:
    """The layout of the tensor of another shape that has the same elements in row-major order."""
    names = dimension_names(len(shape))
    flat = layout.reordered(outs=list(layout.outs)[::-1])  # the last dimension is the least significant
    return flat.reshaped(outs=dict(zip(names[::-1], shape[::-1]))).reordered(outs=names)


def without_pairs(layout: LinearLayout, axis: int) -> LinearLayout | None:
    """The layout of every second element along `axis`; None if no register tells neighbours there apart."""
    bases = layout.bases
    pair = tuple(int(d == axis) for d in range(len(layout.outs)))
    found = any(basis[axis] == 1 for basis in bases["register"])
    bases["register"] = [basis for basis in bases["register"] if basis[axis] != 1]
    if not found:
        return None
    halves = {
        name: [tuple(n // 2 if d == axis else n for d, n in enumerate(basis)) for basis in vectors]
        for name, vectors in bases.items()
    }
    outs = {name: max(size >> pair[d], 1) for d, (name, size) in enumerate(layout.outs.items())}
    return LinearLayout(halves, outs)


def unique_registers(layout: LinearLayout) -> int:
    """How many different elements a thread holds."""
    return layout.without_zeros("register").ins["register"]
