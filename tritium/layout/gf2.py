"""Linear algebra over GF(2), where addition is exclusive or.

A vector is an int whose bit i is its coordinate i. A matrix is a sequence of columns, each a vector: column j is the
image of the j-th unit vector. So a matrix times a vector is the exclusive or of the columns selected by its bits:

>>> times([0b01, 0b11], 0b10), times([0b01, 0b11], 0b11)
(3, 2)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["Elimination", "identity", "inverse", "kernel", "rank", "times", "transpose"]


def times(columns: Sequence[int], vector: int) -> int:
    """The matrix times a vector; bits of `vector` beyond the last column must be zero."""
    out = 0
    while vector:
        low = vector & -vector
        out ^= columns[low.bit_length() - 1]
        vector ^= low
    return out


def identity(n: int) -> list[int]:
    """The columns of the n x n identity."""
    return [1 << i for i in range(n)]


def transpose(columns: Sequence[int], rows: int) -> list[int]:
    """The columns of the transposed matrix; `rows` is the number of rows of the given one.

    >>> transpose([0b01, 0b11], 2)
    [3, 2]
    """
    return [sum((c >> i & 1) << j for j, c in enumerate(columns)) for i in range(rows)]


class Elimination:
    """Columns in echelon form, and the combination of given columns for each.

    Columns are added one by one, and a dependent one takes no part in solutions. A solution is therefore zero in all
    free variables, which makes it unique.
    """

    __slots__ = ("_pivots", "count", "kernel")

    def __init__(self, columns: Iterable[int] = ()) -> None:
        self._pivots: dict[int, tuple[int, int]] = {}  # highest bit -> a column with that bit, its combination
        self.count = 0
        self.kernel: list[int] = []  # a basis of the null space
        for column in columns:
            self.add(column)

    @property
    def rank(self) -> int:
        """The number of independent columns."""
        return len(self._pivots)

    def _reduce(self, vector: int) -> tuple[int, int]:
        """The remainder of the vector, and the combination of columns that was subtracted."""
        taken = 0
        while vector:
            found = self._pivots.get(vector.bit_length())
            if found is None:
                break
            vector ^= found[0]
            taken ^= found[1]
        return vector, taken

    def add(self, column: int) -> bool:
        """Add the next column; returns whether it is independent of the previous ones."""
        rest, taken = self._reduce(column)
        combination = taken ^ 1 << self.count
        self.count += 1
        if rest:
            self._pivots[rest.bit_length()] = rest, combination
        else:
            self.kernel.append(combination)
        return rest != 0

    def solve(self, vector: int) -> int | None:
        """The x with `times(columns, x) == vector` that is zero in all free variables; None if there is none.

        >>> Elimination([0b01, 0b01, 0b10]).solve(0b11)
        5
        """
        rest, taken = self._reduce(vector)
        return None if rest else taken


def rank(columns: Sequence[int]) -> int:
    """The number of independent columns."""
    return Elimination(columns).rank


def kernel(columns: Sequence[int]) -> list[int]:
    """A basis of the null space of the matrix."""
    return Elimination(columns).kernel


def inverse(columns: Sequence[int]) -> list[int]:
    """The columns of the inverse of a square matrix; `ValueError` if there is none.

    >>> inverse([0b01, 0b11])
    [1, 3]
    """
    elimination = Elimination(columns)
    out = [elimination.solve(1 << i) for i in range(len(columns))]
    if any(x is None for x in out) or any(c >> len(columns) for c in columns):
        raise ValueError("the matrix has no inverse")
    return [x for x in out if x is not None]
