"""Eviction policies of repeated loads are in the PTX and in the machine code, and results do not depend on them."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.backends.nvidia.texts import needs_ptxas
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.runtime.driver import driver
from tritium.runtime.emulated import EmulatedCUDADriver

HINTED = re.compile(r"ld\.global\.L1::(evict_\w+)\.L2::cache_hint\.(\w+(?:\.\w+)?)")


@tritium.jit
def normalize(X, Y, N, BLOCK: tl.constexpr):
    x_row, y_row = X + tl.program_id(0) * N, Y + tl.program_id(0) * N
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        total += tl.load(x_row + cols, mask=cols < N, other=0.0).to(tl.float32)
    mean = tl.sum(total, 0) / N
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_row + cols, mask=cols < N, other=0.0).to(tl.float32)
        tl.store(y_row + cols, (x - mean).to(Y.dtype.element_ty), mask=cols < N)


def compiled(capability: int, element: str = "fp16", block: int = 1024, **options: object):
    """For rows of 16384 elements, which the L1 cache holds for some of the CTAs of an SM."""
    signature = {"X": f"*{element}", "Y": f"*{element}", "N": "constexpr", "BLOCK": "constexpr"}
    attributes = {(i,): [["tt.divisibility", 16]] for i in range(2)}
    source = ASTSource(normalize, signature, {"N": 16384, "BLOCK": block}, attributes)
    return compile(source, target=GPUTarget("cuda", capability, 32), options=options)


def policies(ptx: str) -> list[tuple[str, str]]:
    return list(dict.fromkeys(HINTED.findall(ptx)))


@needs_ptxas
@pytest.mark.parametrize("capability", [80, 86, 90, 100])
@pytest.mark.parametrize(
    ("element", "block", "access"),
    [
        ("fp32", 1024, "v4.b32"),
        ("fp16", 1024, "v4.b32"),
        ("fp16", 512, "v2.b32"),
        ("fp16", 128, "b16"),
        ("i8", 128, "b8"),
    ],
)
def test_loads_of_all_widths_have_policies_that_ptxas_accepts(
    capability: int, element: str, block: int, access: str
) -> None:
    kernel = compiled(capability, element, block, without="keep-rows")
    assert kernel.asm["cubin"]
    assert policies(kernel.asm["ptx"]) == [("evict_last", access), ("evict_first", access)]


@pytest.mark.parametrize(("capability", "without"), [(75, ""), (90, "cache-hints")])
def test_no_policies_before_sm_80_and_when_switched_off(capability: int, without: str) -> None:
    assert "evict" not in compiled(capability, without=f"keep-rows,{without}").asm["ptx"]


def test_results_do_not_depend_on_policies() -> None:
    x = np.random.default_rng(0).normal(size=(2, 1300)).astype(np.float32)
    x[1, 7] = np.nan
    results = []
    driver.set_active(EmulatedCUDADriver(90))
    try:
        for without in ("", "cache-hints"):
            y = np.full_like(x, 7)
            normalize[(2,)](x, y, 1300, BLOCK=256, without=without)
            results.append(y.view(np.uint32))
    finally:
        driver.reset_active()
    assert np.array_equal(*results)
