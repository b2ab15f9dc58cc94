"""Values from outside that kernels are compiled with: what counts as changed, and what was settled by the definition."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium.runtime import LaunchError

FACTOR = tl.constexpr(3)
HIDDEN = tl.constexpr(5)
DEFAULT = 11
INNER_DEFAULT = tl.constexpr(13)


@tritium.jit
def reads_a_constant(out):
    tl.store(out, FACTOR)


@tritium.jit
def reads_before_it_assigns(out):
    first = HIDDEN  # noqa: F823
    HIDDEN = 1
    tl.store(out, first * HIDDEN)


@tritium.jit
def has_a_default(out, value: tl.constexpr = DEFAULT):
    tl.store(out, value)


@tritium.jit
def inner(value: tl.constexpr = INNER_DEFAULT):
    return value


@tritium.jit
def calls_with_a_default(out):
    tl.store(out, inner())


def result(kernel) -> int:
    """What the kernel stores."""
    out = np.full(1, -1, np.int32)
    kernel[(1,)](out)
    return int(out[0])


@pytest.mark.parametrize(
    ("kernel", "name", "value"), [(reads_a_constant, "FACTOR", 3), (reads_before_it_assigns, "HIDDEN", 5)]
)
def test_a_compile_time_value_of_the_module_may_not_change(kernel, name, value, monkeypatch) -> None:
    assert [result(kernel) for _ in range(3)] == [value] * 3
    monkeypatch.setattr(sys.modules[__name__], name, tl.constexpr(value))
    assert result(kernel) == value  # an equal one is no change
    monkeypatch.setattr(sys.modules[__name__], name, tl.constexpr(value + 1))
    for _ in range(3):
        with pytest.raises(LaunchError, match=f"global variable '{name}' has changed since .* it was constexpr"):
            result(kernel)


def test_another_value_is_another_kernel_on_disk(monkeypatch) -> None:
    kernel = reads_before_it_assigns
    assert result(kernel) == 5
    before = kernel.cache_key
    monkeypatch.setattr(sys.modules[__name__], "HIDDEN", tl.constexpr(6))
    kernel.hash = None
    assert kernel.cache_key != before
    assert result(kernel) == 6
    monkeypatch.undo()
    kernel.hash = None
    assert kernel.cache_key == before


@pytest.mark.parametrize(
    ("kernel", "name", "value"), [(has_a_default, "DEFAULT", 11), (calls_with_a_default, "INNER_DEFAULT", 13)]
)
def test_defaults_are_those_of_the_definition(kernel, name, value, monkeypatch) -> None:
    assert result(kernel) == value
    monkeypatch.setattr(sys.modules[__name__], name, 99)
    assert [result(kernel) for _ in range(3)] == [value] * 3


def make_inner(value):
    @tritium.jit
    def child(number: tl.constexpr = value):
        return number

    return child


def test_defaults_are_part_of_the_key() -> None:
    assert make_inner(1).cache_key == make_inner(1).cache_key != make_inner(2).cache_key
