"""Arrays that notice what a kernel reads and writes beside them."""

from __future__ import annotations

from typing import Any

import numpy as np

GUARD = 160
"""Elements on either side: as many as padding reaches, and more."""


def poison(dtype: Any) -> Any:
    """What must neither be used nor overwritten."""
    return np.nan if np.dtype(dtype).kind == "f" else np.iinfo(dtype).min


class Guarded:
    """`array`: a copy of the values, in the middle of memory that is poisoned."""

    def __init__(self, values: np.ndarray) -> None:
        self.memory = np.full(values.size + 2 * GUARD, poison(values.dtype), values.dtype)
        self.guard = poison(values.dtype)
        self.array = self.memory[GUARD : GUARD + values.size].reshape(values.shape)
        self.array[...] = values

    def poison(self, value: Any) -> None:
        """Put another value around the array."""
        self.guard = self.memory[:GUARD] = self.memory[-GUARD:] = value

    def check(self, expected: Any, rtol: float = 0, atol: float = 0) -> None:
        """The values are these, and nothing beside them was written."""
        np.testing.assert_allclose(self.array, np.reshape(expected, self.array.shape), rtol=rtol, atol=atol)
        for side in (self.memory[:GUARD], self.memory[-GUARD:]):
            np.testing.assert_array_equal(side, np.full(GUARD, self.guard, side.dtype))
