"""Who reads shared memory waits for who wrote it: no barrier, wait or fence that the compiler made can be spared.

triton#11328: views; #2664: mbarriers and async copies; #6441: partitions; #3858: an mbarrier's memory used again.
"""

from __future__ import annotations

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.reliability.emulated import error_of, gpu, tile, without
from tritium.emulator import EmulationError
from tritium.ir import PassManager, parse_module


@tritium.jit
def turned_and_summed(x, o, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    tile = tl.load(x + at)
    tl.store(o + at, tl.trans(tile) + tl.sum(tile, 1)[None, :])


@tritium.jit
def products(a, b, c, K, N: tl.constexpr, BK: tl.constexpr, WS: tl.constexpr):
    total = tl.zeros((N, N), tl.float32)
    for k in tl.range(0, K, BK, warp_specialize=WS):
        total = tl.dot(a.load([0, k]), b.load([0, k]).T, total)
    for k in tl.range(0, K, BK):
        total = tl.dot(a.load([0, k]), b.load([0, k]).T, total)
    c.store([0, 0], total.to(tl.float16))


def test_no_barrier_can_be_spared() -> None:
    """A missing barrier is planted in the place of each: the emulator finds every one."""
    x = np.random.default_rng(1).integers(0, 9, (32, 32)).astype(np.float32)
    o = np.full_like(x, np.nan)
    with gpu():
        kernel = turned_and_summed[(1,)](x, o, 32)
        np.testing.assert_array_equal(o, x.T + x.sum(1))
        planted = list(without(kernel.asm["ptx"], r"bar(rier)?\.(cta\.)?sync"))
        assert planted
        for line, ptx in planted:
            assert isinstance(error_of(kernel, ptx, (1,), x, o), EmulationError), line


@pytest.mark.parametrize("specialize", [False, True], ids=["pipelined", "specialized"])
def test_no_wait_can_be_spared(specialize: bool) -> None:
    """Two loops that use the same memory for their mbarriers, one after the other, and by warps of their own."""
    (a, a_map), (b, b_map) = tile((64, 128), [64, 32], 1), tile((64, 128), [64, 32], 2)
    c, c_map = tile((64, 64), [64, 64])
    arguments = (a_map, b_map, c_map, 128, 64, 32, specialize)
    with gpu():
        kernel = products[(1,)](*arguments, num_stages=3)
        np.testing.assert_array_equal(c, (2 * (a.astype(np.float32) @ b.T)).astype(np.float16))
        ptx = kernel.asm["ptx"]
        waits = list(without(ptx, r"wgmma\.wait_group\.sync\.aligned [1-9]|cp\.async\.bulk\.wait_group"))
        waits += list(without(ptx, r"mbarrier\.inval"))[:2]  # of the first loop: the second's stand in their places
        waits.append(("every wait behind a loop", ptx.replace("wgmma.wait_group.sync.aligned 0;", "")))
        assert len(waits) >= 5
        for line, text in waits:
            assert isinstance(error_of(kernel, text, (1,), *arguments), EmulationError), line


VIEWS = """
#b = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#t = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#u = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @views(%x: tensor<32x32xf32, #b>, %i: i32) -> tensor<32x32xf32, #t> {
    %a = ttg.local_alloc : () -> !ttg.memdesc<2x32x32xf32, #s, #smem, mutable>
    %v = ttg.memdesc_index %a[%i] : !ttg.memdesc<2x32x32xf32, #s, #smem, mutable> -> !ttg.memdesc<32x32xf32, #s, #smem, mutable>
    %w = ttg.memdesc_trans %v {order = array<i32: 1, 0>} : !ttg.memdesc<32x32xf32, #s, #smem, mutable> -> !ttg.memdesc<32x32xf32, #u, #smem, mutable>
    ttg.local_store %x, %v : tensor<32x32xf32, #b> -> !ttg.memdesc<32x32xf32, #s, #smem, mutable>
    %y = ttg.local_load %w : !ttg.memdesc<32x32xf32, #u, #smem, mutable> -> tensor<32x32xf32, #t>
    tt.return %y : tensor<32x32xf32, #t>
  }
}
"""


def test_a_view_of_a_view_is_the_same_memory() -> None:
    module = parse_module(VIEWS)
    PassManager("builtin.module(allocate-shared-memory,insert-barriers)").run(module)
    names = [op.name for op in module.walk() if op.name in ("ttg.local_store", "ttg.barrier", "ttg.local_load")]
    assert names == ["ttg.local_store", "ttg.barrier", "ttg.local_load"]
