"""Selects of compared floats that LLVM must not take for a minimum or maximum: which ones are rewritten, and how."""

from __future__ import annotations

from typing import Any

import pytest

from tritium.backends import minmax_selects
from tritium.backends.cpu.llvm import emit_assembly, optimize
from tritium.backends.cpu.target import CPUTarget, named_target
from tritium.backends.minmax_selects import without_minmax_selects


def function(predicate: str, b: str, chosen: tuple[str, str], ty: str = "float") -> str:
    mask = "i1" if ty[0] != "<" else f"<{ty[1:].split()[0]} x i1>"
    return f"""define {ty} @f({ty} %a, {ty} %b) {{
  %c = fcmp {predicate} {ty} %a, {b}, !dbg !1
  %r = select {mask} %c, {ty} {chosen[0]}, {ty} {chosen[1]}, !dbg !2
  ret {ty} %r
}}
"""


@pytest.mark.parametrize(
    ("predicate", "b", "chosen", "changes"),
    [
        ("olt", "0.000000e+00", ("%a", "0.000000e+00"), True),  # of equal operands 0.0, the minimum of -0.0 and 0.0 not
        ("olt", "-0.000000e+00", ("%a", "-0.000000e+00"), False),
        ("ogt", "0.000000e+00", ("%a", "0.000000e+00"), False),  # the maximum of both zeros is 0.0
        ("ogt", "-0.000000e+00", ("%a", "-0.000000e+00"), True),
        ("ogt", "0.000000e+00", ("%a", "-0.000000e+00"), True),  # comparisons do not see the sign
        ("ugt", "0.000000e+00", ("0.000000e+00", "%a"), False),  # of equal operands %a, as the minimum
        ("ugt", "-0.000000e+00", ("-0.000000e+00", "%a"), True),
        ("ole", "0.000000e+00", ("%a", "0.000000e+00"), False),
        ("oge", "0.000000e+00", ("%a", "0.000000e+00"), True),
        ("olt", "1.000000e+00", ("%a", "1.000000e+00"), False),  # zeros do not meet
        ("olt", "0x7FF0000000000000", ("%a", "0x7FF0000000000000"), False),
        ("olt", "%b", ("%a", "%b"), True),
        ("ult", "%b", ("%b", "%a"), True),
        ("olt", "0.000000e+00", ("%a", "1.000000e+00"), False),  # no minimum
        ("oeq", "0.000000e+00", ("%a", "0.000000e+00"), False),
    ],
)  # fmt: skip
def test_selects_are_inverted_where_a_minimum_orders_zeros_otherwise(predicate, b, chosen, changes):
    text = function(predicate, b, chosen)
    found = without_minmax_selects(text)
    assert (found != text) == changes
    if changes:
        assert "%not.r = xor i1 %c, true\n" in found
        assert f"%r = select i1 %not.r, float {chosen[1]}, float {chosen[0]}, !dbg !2\n" in found
        assert without_minmax_selects(found) == found


@pytest.mark.parametrize(
    ("ty", "zero", "negative"),
    [
        ("half", "0xH0000", "0xH8000"),
        ("bfloat", "0xR0000", "0xR8000"),
        ("double", "0.000000e+00", "-0.000000e+00"),
        ("<8 x float>", "zeroinitializer", "splat (float -0.000000e+00)"),
        ("<8 x half>", "zeroinitializer", "splat (half 0xH8000)"),
    ],
)
def test_zeros_are_read_in_every_type(ty, zero, negative):
    assert "xor" in without_minmax_selects(function("olt", zero, ("%a", zero), ty))
    assert "xor" not in without_minmax_selects(function("olt", negative, ("%a", negative), ty))
    assert "xor" in without_minmax_selects(function("ogt", negative, ("%a", negative), ty))


def _instructions(target: CPUTarget) -> str:
    text = function("olt", "0.000000e+00", ("%a", "0.000000e+00")).replace(", !dbg !1", "").replace(", !dbg !2", "")
    return emit_assembly(optimize(text, target), target)


def test_aarch64_selects_no_minimum_for_a_select():
    """Its `fminnm` gives -0.0 for the operands -0.0 and 0.0, of which the select takes the second."""
    text = _instructions(named_target("neoverse-v1"))
    assert "fcmp" in text and "fcsel" in text and "fmin" not in text


def test_patterns_are_tried_at_comparisons_and_selects_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others are a hundred thousand lines of a large kernel."""
    tried: list[str] = []

    class Counted:
        def __init__(self, inner: Any) -> None:
            self.inner = inner

        def match(self, line: str) -> Any:
            tried.append(line)
            return self.inner.match(line)

    for name in ("_COMPARISON", "_SELECT"):
        monkeypatch.setattr(minmax_selects, name, Counted(getattr(minmax_selects, name)))
    body = "".join(f"  %x{i} = fadd float %a, %b\n" for i in range(1000))
    one = function("olt", "0.000000e+00", ("%a", "0.000000e+00"))
    other = one.replace("@f", "@g").replace("olt", "ogt")
    found = without_minmax_selects(one.replace("{\n", "{\n" + body) + other)
    assert found.count("xor i1 %c") == 1  # functions are apart, though their values have the same names
    assert len(tried) == 4
