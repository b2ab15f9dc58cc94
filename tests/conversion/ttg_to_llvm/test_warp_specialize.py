"""Kernels whose warps run partitions of their own, in the emulator."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conversion.ttg_to_llvm.harness import from_ttgir

HEAD = """
#a = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [2], order = [0]}>
#c = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!buffer = !ttg.memdesc<128xi32, #flat, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
"""

SUM = """
      %k = "tt.reduce"(%t) <{axis = 0 : i32}> ({
      ^bb0(%x: i32, %y: i32):
        %z = arith.addi %x, %y : i32
        tt.reduce.return %z : i32
      }) : (tensor<128xi32, LAYOUT>) -> i32
"""
STORE = """
      %pp = tt.splat %p_ : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, LAYOUT>
      %q = tt.addptr %pp, %i : tensor<128x!tt.ptr<i32>, LAYOUT>, tensor<128xi32, LAYOUT>
      tt.store %q, %u : tensor<128x!tt.ptr<i32>, LAYOUT>
"""


def part(start: int, layout: str, added: str, pointer: str) -> str:
    """Store `start + i + added + sum of these` for 128 numbers i, at `start`."""
    body = f"""
      %i = tt.make_range {{start = {start} : i32, end = {start + 128} : i32}} : tensor<128xi32, LAYOUT>
      %s = tt.splat {added} : i32 -> tensor<128xi32, LAYOUT>
      %t = arith.addi %i, %s : tensor<128xi32, LAYOUT>
      {SUM}
      %ks = tt.splat %k : i32 -> tensor<128xi32, LAYOUT>
      %u = arith.addi %t, %ks : tensor<128xi32, LAYOUT>
      {STORE}"""
    return body.replace("LAYOUT", layout).replace("%p_", pointer)


CAPTURED = "%pa: !tt.ptr<i32>, %ma: i32, %la: i32, %ba: !buffer"
SPECIALIZED = f"""
    %r = ttg.warp_specialize(%p, %m, %l, %buffer) attributes {{requestedRegisters = array<i32: 24, 40>}}
    default {{
      {part(0, "#a", "%m", "%p")}
      ttg.local_store %t, %buffer : tensor<128xi32, #a> -> !buffer
      ttg.warp_yield %k : i32
    }}
    partition0({CAPTURED}) num_warps(2) {{
      {part(128, "#b", "%ma", "%pa")}
      ttg.warp_return
    }}
    partition1({CAPTURED}) num_warps(1) {{
      {part(256, "#c", "%la", "%pa")}
      ttg.warp_return
    }} : (!tt.ptr<i32>, i32, i32, !buffer) -> i32
"""
BEFORE = """
  tt.func public @k(%p: !tt.ptr<i32>, %n: i32) attributes {noinline = false} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c5 = arith.constant 5 : i32
    %end = arith.constant 384 : i32
    %m = arith.muli %n, %c5 : i32
    %last = tt.addptr %p, %end : !tt.ptr<i32>, i32
    %l = tt.load %last : !tt.ptr<i32>
    %buffer = ttg.local_alloc : () -> !buffer
"""
AFTER = "    tt.store %last, %r : !tt.ptr<i32>\n    tt.return\n  }\n}\n"
ONE = HEAD + BEFORE + SPECIALIZED + AFTER
LOOPED = (
    HEAD
    + BEFORE
    + "    %r = scf.for %iv = %c0 to %n step %c1 iter_args(%carried = %c0) -> (i32) : i32 {\n"
    + SPECIALIZED.replace("%r =", "%r2 =").replace("%l)", "%l)")
    + "      %r3 = arith.addi %r2, %carried : i32\n      scf.yield %r3 : i32\n    }\n"
    + AFTER
)
TWICE = HEAD + BEFORE + SPECIALIZED.replace("%r =", "%first =") + SPECIALIZED + AFTER


def expected(n: int, given: int) -> tuple[np.ndarray, int]:
    i = np.arange(384).reshape(3, 128)
    rows = i + np.array([[5 * n], [5 * n], [given]])
    return (rows + rows.sum(axis=1, keepdims=True)).ravel(), int(rows[0].sum())


@pytest.mark.parametrize("text,runs", [(ONE, 1), (TWICE, 1), (LOOPED, 3)])
@pytest.mark.parametrize("without", ["", "register-reallocation"])
def test_three_partitions(text: str, runs: int, without: str) -> None:
    n, given = 3, 7
    values, total = expected(n, given)
    if without:
        text = text.replace("module attributes {", f'module attributes {{tritium.without = "{without}", ', 1)
    gpu = from_ttgir(text, 90)
    assert bool(gpu.count("setmaxnreg")) is not bool(without)
    assert gpu.metadata.num_warps == 8 and ".reqntid 256" in gpu.ptx
    out = np.zeros(400, np.int32)
    out[384] = given
    gpu.launch(1, out, n)
    assert np.array_equal(out[:384], values) and out[384] == runs * total


def test_no_loop_where_nobody_must_be_told() -> None:
    """One operation at the top: workers end with their partition, and what threads know is not sent."""
    gpu = from_ttgir(ONE, 90)
    assert gpu.count("bar(rier.cta)?.red") == 0
    assert gpu.count("st.shared") == 1 + 1 + 2  # a number loaded, a buffer, two sums across warps
