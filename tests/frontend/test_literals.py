"""Scalars that are literals count as compile-time integers and conditions, as unpacked constexpr tuples did before 3.9."""

from __future__ import annotations

import numpy as np
import pytest

import tritium
import tritium.language as tl


@tritium.jit
def _forward(x, at, OPTIONS: tl.constexpr):
    SIZE, MASKED, BOTH = OPTIONS
    rows = tl.arange(0, SIZE)
    mask = rows < 3 if MASKED else None
    value = tl.load(x + at + rows, mask) + tl.zeros((SIZE,), tl.float32)
    if BOTH:
        return rows, value
    return rows, -value


@tritium.jit
def unpacked(x, out, SIZE: tl.constexpr, MASKED: tl.constexpr, BOTH: tl.constexpr):
    options: tl.constexpr = (SIZE, MASKED, BOTH)
    rows, value = _forward(x, 0, options)
    tl.store(out + rows, value)


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("both", [True, False])
def test_unpacked_constexpr_tuple_gives_shapes_and_static_conditions(masked, both) -> None:
    x, out = np.arange(1, 9, dtype=np.float32), np.zeros(8, np.float32)
    unpacked[(1,)](x, out, SIZE=8, MASKED=masked, BOTH=both)
    wanted = np.where(np.arange(8) < (3 if masked else 8), x, 0) * (1 if both else -1)
    np.testing.assert_array_equal(out, wanted)


@tritium.jit
def changing(out, n):
    first = True
    total = 0
    for i in range(n):
        if first:
            total = 100
        else:
            total += i
        first = i == 4
    tl.store(out, total)


def test_literal_that_a_loop_changes_is_a_run_time_condition() -> None:
    out = np.zeros(1, np.int32)
    changing[(1,)](out, 8)
    assert out[0] == 100 + 6 + 7


@tritium.jit
def merged(out, n):
    size = 4
    if n > 2:
        size = 8
    tl.store(out + tl.arange(0, size), 1)


def test_size_that_a_branch_changes_is_refused() -> None:
    with pytest.raises(tritium.compiler.errors.CompilationError, match="must be of type tl.constexpr"):
        merged[(1,)](np.zeros(8, np.int32), 3)
