"""Loops over blocks without a remainder: they have a constant trip count, and LLVM unrolls them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conversion.ttg_to_llvm.harness import Gpu, from_ttgir

TILE = "tensor<64xf32, #blocked>"
POINTERS = "tensor<64x!tt.ptr<f32>, #blocked>"

KERNEL = """
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [2], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 2 : i32, ttg.target = "cuda:90",
                   "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %sums: !tt.ptr<f32>) {
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    %c64 = arith.constant 64 : i32
    %heads = arith.constant HEADS : i32
    %zero = arith.constant dense<0.0> : TILE
    %columns = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #blocked>
    %group = tt.get_program_id x : i32
    %start = arith.muli %group, %c4 : i32
    %all = arith.addi %start, %c4 : i32
    %end = arith.minsi %all, %heads : i32
    %sum = scf.for %head = %start to %end step %c1 iter_args(%s = %zero) -> (TILE) : i32 {
      %first = arith.muli %head, %c64 : i32
      %row = tt.addptr %x, %first : !tt.ptr<f32>, i32
      %base = tt.splat %row : !tt.ptr<f32> -> POINTERS
      %p = tt.addptr %base, %columns : POINTERS, tensor<64xi32, #blocked>
      %v = tt.load %p : POINTERS
      %more = arith.addf %s, %v : TILE
      tt.store %p, %more : POINTERS
      scf.yield %more : TILE
    }
    %at = arith.muli %group, %c64 : i32
    %out = tt.addptr %sums, %at : !tt.ptr<f32>, i32
    %outs = tt.splat %out : !tt.ptr<f32> -> POINTERS
    %q = tt.addptr %outs, %columns : POINTERS, tensor<64xi32, #blocked>
    tt.store %q, %sum : POINTERS
    tt.return
  }
}
"""


def kernel(heads: int) -> Gpu:
    text = KERNEL.replace("HEADS", str(heads)).replace("POINTERS", POINTERS).replace("TILE", TILE)
    return from_ttgir(text, capability=90)


def run(gpu: Gpu, heads: int, groups: int) -> None:
    """Compare with NumPy; the last groups have no heads."""
    x = np.random.default_rng(0).integers(0, 50, (heads, 64)).astype(np.float32)
    expected = np.concatenate([x[at : at + 4].cumsum(0) for at in range(0, heads, 4)])
    changed, sums = x.copy(), np.full((groups, 64), -1, np.float32)
    gpu.launch(groups, changed, sums)
    assert (changed == expected).all()
    assert (sums == [x[at * 4 : at * 4 + 4].sum(0) for at in range(groups)]).all()


@pytest.mark.parametrize("heads", [8, 4])
def test_blocks_without_a_remainder_are_unrolled(heads: int) -> None:
    gpu = kernel(heads)
    assert gpu.count("ld.global") == 4
    run(gpu, heads, groups=3)


def test_blocks_with_a_remainder_stay_loops() -> None:
    gpu = kernel(6)
    assert gpu.count("ld.global") < 4
    run(gpu, 6, groups=3)
