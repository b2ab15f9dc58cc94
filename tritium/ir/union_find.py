"""Union-find: a partition of values into disjoint sets, which grow by merging.

>>> sets = UnionFind()
>>> sets.union("a", "b"), sets.union("c", "d")
('a', 'c')
>>> sets.find("b"), sets.same("a", "d"), sets.groups()
('a', False, [['a', 'b'], ['c', 'd']])
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

__all__ = ["UnionFind"]

T = TypeVar("T", bound=Hashable)


class UnionFind(Generic[T]):
    """Disjoint sets of hashable elements; an element that was never named is alone in its set.

    `find` halves the path to the representative (Tarjan and van Leeuwen, 1984): amortized O(log n).
    """

    __slots__ = ("_parent",)

    def __init__(self) -> None:
        self._parent: dict[T, T] = {}

    def find(self, element: T) -> T:
        """The representative of the set of `element`, which is added as a set of its own where it is new."""
        parent = self._parent
        up = parent.setdefault(element, element)
        while up is not element:
            parent[element] = up = parent[up]
            element, up = up, parent[up]
        return element

    def union(self, first: T, second: T) -> T:
        """Merge the sets of two elements; the representative of the first stays one, and is returned."""
        kept, merged = self.find(first), self.find(second)
        self._parent[merged] = kept
        return kept

    def same(self, first: T, second: T) -> bool:
        """Whether two elements are in one set."""
        return self.find(first) is self.find(second)

    def groups(self) -> list[list[T]]:
        """The sets, by their first element, each in the order in which its elements were added."""
        out: dict[T, list[T]] = {}
        for element in list(self._parent):
            out.setdefault(self.find(element), []).append(element)
        return list(out.values())
