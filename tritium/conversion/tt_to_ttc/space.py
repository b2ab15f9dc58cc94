"""The iteration space of a loop nest."""

from __future__ import annotations

__all__ = ["Space"]


class Space:
    """A tile `shape`, the dimension `axis` that is vectorized (-1: none), and `lanes`, the length of the vectors."""

    __slots__ = ("axis", "lanes", "shape")

    def __init__(self, shape: tuple[int, ...], axis: int, lanes: int) -> None:
        self.shape = shape
        self.axis = axis if axis >= 0 and lanes > 1 else -1
        self.lanes = lanes if self.axis >= 0 else 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Space) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def key(self) -> tuple[tuple[int, ...], int, int]:
        """The fields that two equal spaces share."""
        return (self.shape, self.axis, self.lanes)
