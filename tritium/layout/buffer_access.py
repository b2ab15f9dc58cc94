"""Accesses of a distributed tensor to a buffer of a given memory layout.

The map from registers to offsets composes the tensor's layout with the inverse of the buffer's. All accesses that the
map allows (see `access`) are compared by instructions and wavefronts, so that ldmatrix is used because rows of 16 bytes
are where its lanes need them, and not because a layout has a certain name.

A buffer may be a view of a larger one, whose layout is given then: elements of the view are at the exclusive or of
their own offset and that of the view's first element.
"""

from __future__ import annotations

import functools

from .access import VECTOR_BITS, Access, matrix_access, vector_access
from .linear import LinearLayout

__all__ = ["gap_limit", "offset_columns", "plan_buffer_access", "plan_cluster_access", "reaches_other_ctas"]

Gaps = tuple[tuple[int, int], ...]
"""(interval, padding) in elements."""


def gap_limit(gaps: Gaps, bits: int) -> int:
    """The maximum width of an access in bits, so that no gap is inside and all addresses stay aligned."""
    most = VECTOR_BITS
    for interval, padding in gaps:
        most = min(most, interval * bits, padding * bits)
    return max(most, bits)


def offset_columns(registers: LinearLayout, buffer: LinearLayout) -> dict[str, list[int]]:
    """For each input of a tensor's layout the offsets of its bits in a buffer of the same rank or more.

    `ValueError` where a CTA of the cluster holds elements that are in the memory of another.
    """
    found = _composed(registers, buffer)
    if _leaves(found, buffer):
        raise ValueError("elements are in the memory of another CTA of the cluster")
    return {name: [basis[0] for basis in found.bases.get(name, ())] for name in _INPUTS}


_INPUTS = ("register", "lane", "warp", "block")


def _composed(registers: LinearLayout, buffer: LinearLayout) -> LinearLayout:
    """From the inputs of a tensor's layout to offset and block of a buffer."""
    names = list(buffer.outs)
    if len(registers.outs) != len(names):
        raise ValueError(f"a tensor of {len(registers.outs)} dimensions and a buffer of {len(names)}")
    whole = registers.reordered(outs=names)
    for name in names:
        whole = whole.resized(name, buffer.outs[name])
    return whole.invert_and_compose(buffer)


def _leaves(found: LinearLayout, buffer: LinearLayout) -> bool:
    """Whether elements are in the memory of another CTA than the thread's."""
    if "block" not in found.outs or found.outs["block"] == 1:
        return False
    free = buffer.redundant()["block"]
    for name, bases in found.bases.items():
        for i, basis in enumerate(bases):
            own = 1 << i if name == "block" else 0
            if (basis[1] ^ own) & ~free:
                return True
    return False


@functools.lru_cache(2048)
def reaches_other_ctas(registers: LinearLayout, buffer: LinearLayout) -> bool:
    """Whether a tensor has elements that a buffer holds in the memory of another CTA of the cluster.

    >>> rows = LinearLayout({"offset": [], "block": [(1,)]}, {"dim0": 2})
    >>> reaches_other_ctas(LinearLayout({"register": [(1,)], "block": [(0,)]}, {"dim0": 2}), rows)
    True
    """
    return _leaves(_composed(registers, buffer), buffer)


@functools.lru_cache(2048)
def plan_cluster_access(
    registers: LinearLayout, buffer: LinearLayout, bits: int, gaps: Gaps = ()
) -> tuple[Access, int]:
    """The access by vectors to a buffer of the cluster, and the bit of its offsets from which on the CTA's rank stands.

    Where CTAs hold copies of each other, a thread accesses that of its own.
    """
    found = _composed(registers, buffer)
    bit = buffer.ins["offset"].bit_length() - 1
    free = buffer.redundant()["block"]
    columns: dict[str, list[int]] = {}
    for name in _INPUTS:
        columns[name] = []
        for i, (offset, block) in enumerate(found.bases.get(name, ())):
            own = 1 << i & free if name == "block" else 0
            columns[name].append(offset | (block & ~free | own) << bit)
    return vector_access(columns, bits, size=bit, most=gap_limit(gaps, bits)), bit


@functools.lru_cache(2048)
def plan_buffer_access(
    registers: LinearLayout, buffer: LinearLayout, bits: int, matrix: bool = False, gaps: Gaps = ()
) -> Access:
    """The cheapest access for elements of `bits`; `matrix`: whether ldmatrix (for stores: stmatrix) may be used."""
    columns = offset_columns(registers, buffer)
    limit = gap_limit(gaps, bits)
    found: list[Access | None] = [vector_access(columns, bits, most=limit)]
    if matrix and limit == VECTOR_BITS:
        found += [matrix_access(columns, bits, transposed) for transposed in (False, True)]
    return min((a for a in found if a is not None), key=_cost)


def _cost(access: Access) -> int:
    return access.instructions + access.passes
