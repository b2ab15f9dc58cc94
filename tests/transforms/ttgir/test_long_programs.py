"""Passes on unrolled loops of thousands of operations: work is linear in their number, not quadratic."""

from __future__ import annotations

import sys
from typing import Any

import tritium
import tritium.language as tl
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.conversion.convert_triton_to_tritongpu import ConvertOptions, convert_triton_to_tritongpu
from tritium.ir import parse_module
from tritium.transforms.ttgir.layout.remove_layout_conversions import remove_layout_conversions


@tritium.jit
def turned(x, o, STEPS: tl.constexpr):
    at = tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :]
    v = tl.load(x + at)
    for _ in tl.static_range(STEPS):
        v = tl.reshape(tl.trans(tl.trans(v) * 2.0) * 0.5, [32]).expand_dims(0).reshape([4, 8]) + 1
    tl.store(o + at, v)


def calls(steps: int) -> int:
    """The number of function calls in the pass."""
    source = ASTSource(turned, {"x": "*fp32", "o": "*fp32", "STEPS": "constexpr"}, {"STEPS": steps})
    module = parse_module(compile(source, GPUTarget("cuda", 90, 32), until="ttir").asm["ttir"])
    convert_triton_to_tritongpu(module, ConvertOptions("cuda:90", 4, 32, 1))
    count = 0

    def profile(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(profile)
    try:
        remove_layout_conversions(module)
    finally:
        sys.setprofile(None)
    return count


def test_work_is_linear_in_program_length() -> None:
    calls(10)
    assert calls(400) < 3 * calls(200)
