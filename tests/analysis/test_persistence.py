"""The model of persistence: for which kernels and launches it pays that programs compute several tiles."""

from __future__ import annotations

from typing import Any

import pytest

import tritium as tt
import tritium.language as tl
from tests.e2e.test_raised_loads import wrapped
from tritium.analysis.persistence import Profit, exposed_cycles, iteration_cycles, profit
from tritium.backends.compiler import GPUTarget
from tritium.compiler import ASTSource, compile
from tritium.dialects import tt as dialect
from tritium.hardware.nvidia import nvidia_gpu
from tritium.ir import CountedLoop, functions_of
from tritium.ir.parser import parse_module


@tt.jit
def uneven(a, b, c, M, N, K, am, ak, bk, bn, cm, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The trip count is that of the program."""
    rows, ks = tl.arange(0, BM), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.program_id(0), 1):
        x = tl.load(a + rows[:, None] * am + (k * BK + ks)[None, :])
        y = tl.load(b + (k * BK + ks)[:, None] * bk + tl.arange(0, BN)[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + tl.program_id(0) * BM * BN + rows[:, None] * BN + tl.arange(0, BN)[None, :], acc)


@tt.jit
def computed(a, b, c, M, N, K, am, ak, bk, bn, cm, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """An operand is computed from what is loaded."""
    rows, ks = tl.arange(0, BM), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rows[:, None] * am + (k + ks)[None, :]) * 2.0
        y = tl.load(b + (k + ks)[:, None] * bk + tl.arange(0, BN)[None, :])
        acc = tl.dot(x.to(tl.float16), y, acc)
    tl.store(c + rows[:, None] * BN + tl.arange(0, BN)[None, :], acc)


def kernel_of(function: Any, tile: tuple[int, int, int], K: int | None = None) -> dialect.Func:
    sizes = ["M", "N", "K", "am", "ak", "bk", "bn", "cm"]
    constants = {**dict(zip(("BM", "BN", "BK"), tile)), "ak": 1, "bn": 1, **({} if K is None else {"K": K})}
    types = {
        "a": "*fp16",
        "b": "*fp16",
        "c": "*fp32",
        **dict.fromkeys(sizes, "i32"),
        **dict.fromkeys(("BM", "BN", "BK")),
    }
    signature = {name: "constexpr" if name in constants else ty for name, ty in types.items()}
    source = ASTSource(function, signature, constexprs=constants)
    text = compile(source, target=GPUTarget("cuda", 90, 32), until="ttir").asm["ttir"]
    (kernel,) = functions_of(parse_module(text))
    assert isinstance(kernel, dialect.Func)
    return kernel


def judged(function: Any, tile: tuple[int, int, int], warps: int = 8, stages: int = 3, K: int | None = None) -> Profit:
    return profit(kernel_of(function, tile, K), nvidia_gpu(90), warps, stages)


def test_a_matmul_with_one_cta_per_sm_is_made_persistent_for_short_loops_and_many_tiles() -> None:
    """64 KiB in f16 are stored in 2,150 cycles; these are 128 KiB, after a prologue of 1,000. An iteration is 1,024."""
    kernel = kernel_of(wrapped, (128, 256, 64))
    (loop,) = [op for op in kernel.entry if isinstance(op, CountedLoop)]
    assert iteration_cycles(loop) == 1024 and 5300 < exposed_cycles(kernel) < 5400
    found = profit(kernel, nvidia_gpu(90), 8, 3)
    assert found.why == "" and found.min_programs == 133 and found.max_trips == {loop: 349}


@pytest.mark.parametrize(
    ("function", "tile", "options", "why"),
    [
        (wrapped, (128, 128, 64), {"stages": 4}, ""),
        (wrapped, (128, 128, 64), {"stages": 3}, "2 CTAs share an SM"),
        (wrapped, (128, 128, 64), {"warps": 4}, "4 warps are not two warp groups"),
        (wrapped, (128, 256, 64), {"warps": 16}, "16 warps are not two warp groups"),
        (wrapped, (128, 256, 64), {"stages": 1}, "not pipelined"),
        (wrapped, (256, 256, 32), {}, "leave no registers for a producer warp group"),
        (wrapped, (128, 256, 128), {"stages": 2}, "does not hold two stages"),
        (wrapped, (128, 256, 64), {"K": 1 << 14}, ""),
        (wrapped, (128, 256, 64), {"K": 1 << 15}, "512 iterations of 1024 cycles hide"),
        (uneven, (128, 256, 64), {}, "depends on the program"),
        (computed, (128, 256, 64), {}, "an operand of a dot is not loaded"),
    ],
)  # fmt: skip
def test_the_model_says_why_persistence_does_not_pay(
    function: Any, tile: tuple[int, int, int], options: dict[str, int], why: str
) -> None:
    found = judged(function, tile, **options)
    assert why in found.why and bool(found.why) is bool(why)
