"""Which of LLVM's passes run over a kernel, and that what needs more of them than most is given them."""

from __future__ import annotations

import re

import pytest

from tests.backends.nvidia.texts import add, missing
from tritium.backends.nvidia import simplify
from tritium.backends.nvidia.codegen import NVPTXTarget, emit_ptx, optimize

HOPPER = NVPTXTarget(90, 80)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What runs, in order: a pipeline of a level, or the part of one that simplifies functions."""
    found: list[str] = []
    whole, part = simplify._run_whole, simplify._run_part

    def whole_told(module: object, level: int, machine: object, unused: bool = True) -> None:
        found.append(f"level {level}")
        whole(module, level, machine, unused)

    def part_told(module: object, machine: object) -> None:
        found.append("functions" if machine else "functions, without costs")
        part(module, machine)

    monkeypatch.setattr(simplify, "_run_whole", whole_told)
    monkeypatch.setattr(simplify, "_run_part", part_told)
    return found


def kernel(body: str, head: str = "") -> str:
    return f"""{head}
define ptx_kernel void @k(ptr addrspace(1) align 16 %x, ptr addrspace(1) align 16 %y, i32 %n) {{
entry:
{body}
  ret void
}}
"""


def test_a_kernel_is_simplified_once(runs: list[str]) -> None:
    optimize(add(), HOPPER)
    assert runs == ["functions"]


def test_a_loop_whose_counter_is_extended_needs_no_second_run(runs: list[str]) -> None:
    loop = """  br label %body
body:
  %i = phi i32 [ 0, %entry ], [ %next, %body ]
  %at = mul i32 %i, 64
  %wide = sext i32 %at to i64
  %p = getelementptr float, ptr addrspace(1) %x, i64 %wide
  store volatile float 0.0, ptr addrspace(1) %p, align 4
  %next = add nsw i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %body, label %end
end:"""
    llir = str(optimize(kernel(loop), HOPPER))
    assert runs == ["functions, without costs"]
    assert not simplify.extends_counters(llir)


def test_functions_are_inlined(runs: list[str]) -> None:
    head = "define internal float @twice(float %v) {\n  %r = fadd float %v, %v\n  ret float %r\n}"
    body = """  %a = load float, ptr addrspace(1) %x, align 4
  %b = call float @twice(float %a)
  store float %b, ptr addrspace(1) %y, align 4"""
    ptx = emit_ptx(optimize(kernel(body, head), HOPPER), HOPPER)
    assert runs == ["level 1"] and "call" not in ptx


@pytest.mark.skipif(missing("libdevice") is not None, reason="libdevice is not installed")
@pytest.mark.parametrize("ftz", [True, False])
def test_library_functions_are_inlined_and_leave_nothing(runs: list[str], ftz: bool) -> None:
    body = """  %a = load float, ptr addrspace(1) %x, align 4
  %b = call float @__nv_exp2f(float %a)
  store float %b, ptr addrspace(1) %y, align 4"""
    llir = optimize(kernel(body, "declare float @__nv_exp2f(float)"), HOPPER, ftz=ftz)
    assert runs == ["level 0", "functions"]
    assert "@.str" not in str(llir) and "__nv" not in str(llir)
    assert re.findall(r"ex2\.approx(?:\.ftz)?", emit_ptx(llir, HOPPER)) == ["ex2.approx.ftz" if ftz else "ex2.approx"]
