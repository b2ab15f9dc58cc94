"""Layouts of views of a tensor: transposed, reshaped, every second element.

renamed_dims(layout, order)     dimension k of the result is dimension order[k]
reshaped(layout, shape)         the same elements in row-major order
without_pairs(layout, axis)     adjacent elements along `axis` in one thread become one
row_of_registers(layout, axis)  the registers of a thread with adjacent elements along `axis`
registers_in(layout, other)     for each register of one layout, the register of the other with the same element
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from .linear import LinearLayout
from .tiling import dimension_names

__all__ = ["registers_in", "renamed_dims", "reshaped", "row_of_registers", "unique_registers", "without_pairs"]


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
    """The layout of every second element along `axis`; None if no register distinguishes adjacent elements."""
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
    """The number of distinct elements that a thread holds."""
    return layout.without_zeros("register").ins["register"]


@functools.lru_cache(1024)
def row_of_registers(layout: LinearLayout, axis: int, most: int) -> tuple[int, ...]:
    """The bits of a register index that count along `axis`: bit i of the list moves by 2 ** i, up to `most` in all.

    Registers that differ only in these bits hold adjacent elements, in a group aligned to its size, in every thread.

    >>> tile = LinearLayout({"register": [(0, 2), (0, 1)], "lane": [(0, 4)]}, {"dim0": 1, "dim1": 8})
    >>> row_of_registers(tile, 1, 4)
    (1, 0)
    """
    bases = layout.bases
    registers = bases["register"]
    row: list[int] = []
    while 2 << len(row) <= most:
        unit = tuple(int(d == axis) << len(row) for d in range(len(layout.outs)))
        if unit not in registers:
            break
        row.append(registers.index(unit))
    others = [b for name, vectors in bases.items() for i, b in enumerate(vectors) if name != "register" or i not in row]
    while row and any(basis[axis] & ((1 << len(row)) - 1) for basis in others):
        row.pop()
    return tuple(row)


@functools.lru_cache(1024)
def registers_in(layout: LinearLayout, other: LinearLayout) -> list[int] | None:
    """For each register of `layout`, the first register of `other` with the same element in the same thread.

    None if some element is in another thread there.
    """
    if layout.outs != other.outs:
        raise ValueError(f"the outputs {layout.outs} are not the outputs {other.outs}")
    mine, theirs = layout.bases, other.bases
    for name in (*mine, *theirs):
        if name != "register" and _column(mine, name) != _column(theirs, name):
            return None
    where: dict[tuple[int, ...], int] = {}
    for register in range(other.ins["register"]):
        where.setdefault(tuple(other.apply(register=register).values()), register)
    found = [where.get(tuple(layout.apply(register=r).values())) for r in range(layout.ins["register"])]
    return None if None in found else found  # type: ignore[return-value]


def _column(bases: dict[str, list[tuple[int, ...]]], name: str) -> list[tuple[int, ...]]:
    """The bases of an input, without trailing zeros."""
    vectors = list(bases.get(name, ()))
    while vectors and not any(vectors[-1]):
        vectors.pop()
    return vectors
