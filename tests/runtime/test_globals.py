"""Values from outside that kernels are compiled with: what counts as changed, and what was settled by the definition."""

from __future__ import annotations

import ast
import sys
from types import ModuleType

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium.compiler import SourceError
from tritium.frontend.definite_assignment import reads_before_assignment
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


IN_PLACE = tl.constexpr(3)
LISTED = tl.constexpr([4, 5])
COUNTED = tl.constexpr(10)
SHADOWED = tl.constexpr(20)
CHOSEN = tl.constexpr(1)


@tritium.jit
def reads_what_changes_in_place(out):
    tl.store(out, IN_PLACE)


@tritium.jit
def reads_an_item(out):
    tl.store(out, LISTED[0])


@tritium.jit
def adds_to_it(out):
    COUNTED += 1  # noqa: F823, F841
    tl.store(out, COUNTED)


@tritium.jit
def assigns_first(out):
    if CHOSEN:
        SHADOWED = 5
    else:
        SHADOWED = 6
    tl.store(out, SHADOWED)


def test_a_value_that_was_changed_in_place_has_changed() -> None:
    kernel = reads_what_changes_in_place
    assert [result(kernel) for _ in range(4)] == [3] * 4
    IN_PLACE.value = 4
    try:
        for _ in range(3):
            with pytest.raises(LaunchError, match="'IN_PLACE' has changed .* changed in place, to constexpr.4"):
                result(kernel)
        kernel.hash = None
        assert [result(kernel) for _ in range(4)] == [4] * 4
    finally:
        IN_PLACE.value = 3
    with pytest.raises(LaunchError):
        result(kernel)
    kernel.hash = None
    assert [result(kernel) for _ in range(4)] == [3] * 4


def test_an_item_of_a_value_has_changed() -> None:
    assert [result(reads_an_item) for _ in range(4)] == [4] * 4
    LISTED.value[0] = 9
    try:
        for _ in range(3):
            with pytest.raises(LaunchError, match="'LISTED' has changed"):
                result(reads_an_item)
    finally:
        LISTED.value[0] = 4
    assert [result(reads_an_item) for _ in range(4)] == [4] * 4


def test_global_of_an_augmented_assignment_is_read(monkeypatch) -> None:
    assert [result(adds_to_it) for _ in range(3)] == [11] * 3
    monkeypatch.setattr(sys.modules[__name__], "COUNTED", tl.constexpr(30))
    with pytest.raises(LaunchError, match="'COUNTED' has changed"):
        result(adds_to_it)
    adds_to_it.hash = None
    assert result(adds_to_it) == 31
    adds_to_it.hash = None


def test_a_name_that_is_always_assigned_first_is_the_kernels_own(monkeypatch) -> None:
    assert [result(assigns_first) for _ in range(3)] == [5] * 3
    before = assigns_first.cache_key
    monkeypatch.setattr(sys.modules[__name__], "SHADOWED", tl.constexpr(21))
    assert [result(assigns_first) for _ in range(3)] == [5] * 3
    assigns_first.hash = None
    assert assigns_first.cache_key == before


def test_a_value_of_another_module_may_not_change() -> None:
    other = ModuleType("other")
    other.SIZE = tl.constexpr(6)

    @tritium.jit
    def reads_a_member(out):
        tl.store(out, other.SIZE)

    assert [result(reads_a_member) for _ in range(4)] == [6] * 4
    other.SIZE = tl.constexpr(7)
    for _ in range(3):
        with pytest.raises(LaunchError, match="'SIZE' has changed"):
            result(reads_a_member)
    reads_a_member.hash = None
    assert [result(reads_a_member) for _ in range(4)] == [7] * 4


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("x = 1\ny = x", False),
        ("y = x\nx = 1", True),
        ("if c:\n  x = 1\ny = x", True),
        ("if c:\n  x = 1\nelse:\n  x = 2\ny = x", False),
        ("if c:\n  return\nelse:\n  x = 2\ny = x", False),
        ("for i in r:\n  x = 1\ny = x", True),
        ("for x in r:\n  y = x", False),
        ("for i in x:\n  x = i", True),
        ("for i in r:\n  y = x\n  x = 1", True),
        ("while c:\n  x = 1\nz = x", True),
        ("x += 1", True),
        ("x = 0\nfor i in r:\n  x += i", False),
        ("x: int = 1\ny = x", False),
        ("x: int\ny = x", True),
        ("x, y = 1, 2\nz = x", False),
        ("x, y = y, x", True),
        ("*x, y = t\nz = x", False),
        ("t[x] = 1\nx = 2", True),
        ("with s:\n  x = 1\ny = x", True),
        ("y = (x := 1)", False),
        ("(x := 1)\ny = x", True),  # not looked into
    ],
)
def test_reads_before_assignment(text: str, read: bool) -> None:
    assert (
        reads_before_assignment(ast.parse(f"def f():\n  {text.replace(chr(10), chr(10) + '  ')}").body[0].body, "x")
        is read
    )


SHARED = tl.constexpr(42)


def test_a_kernel_is_not_kept_under_the_key_of_a_global_s_old_value(tmp_path, monkeypatch) -> None:
    """Its callee was compiled with the old value, and a new kernel that calls it with the new one."""
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path))

    @tritium.jit
    def reads():
        return SHARED

    @tritium.jit
    def first(out):
        tl.store(out, reads())

    @tritium.jit
    def second(out):
        tl.store(out, reads() + 0)

    assert result(first) == 42
    monkeypatch.setattr(sys.modules[__name__], "SHARED", tl.constexpr(1))
    for _ in range(2):
        with pytest.raises(LaunchError, match="'SHARED' has changed"):
            result(second)
    with pytest.raises(SourceError, match="'SHARED' has changed"):
        tritium.compile(tritium.ASTSource(second, {"out": "*i32"}))
    monkeypatch.setattr(sys.modules[__name__], "SHARED", tl.constexpr(42))
    assert result(second) == 42
