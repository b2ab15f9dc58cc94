"""Spellings of GPU operations from older versions of Triton are read, and printed as they are spelt today."""

from __future__ import annotations

import pytest

import tritium.dialects.all  # noqa: F401  (the operations that the texts name)
from tritium.ir import parse_module, print_op, verify

BLOCKED = "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>"
MMA = "#ttg.amd_mfma<{version = 4, warpsPerCTA = [2, 2], instrShape = [32, 32, 16], isTransposed = true}>"
AMD = f"""\
#b = {BLOCKED}
#mma = {MMA}
#shared = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}}>
#smem = #ttg.shared_memory
module attributes {{"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32}} {{
  tt.func @f(%p: !tt.ptr<f32>, %o: tensor<64x64xi32, #b>, %m: tensor<64x64xi1, #b>, %v: tensor<64x64xf32, #b>, %s: i32,
      %mem: !ttg.memdesc<64x64xf32, #shared, #smem, mutable>, %bytes: !ttg.memdesc<16x64xi8, #shared, #smem, mutable>) {{
    LINE
    tt.return
  }}
}}
"""
NVIDIA = """\
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func @f(%t: !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>, %d: !tt.tensordesc<64x64xf16, #shared>,
      %mem: !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, %bar: !ttg.memdesc<1xi64, #shared1, #smem, mutable>,
      %x: i32, %p: i1) {
    LINE
    tt.return
  }
}
"""
CASES = [
    (AMD, "rocdl.sched.barrier 6", "rocdl.sched.barrier valu|salu\n"),
    (
        AMD,
        "%0 = amdg.buffer_load %p[%o] : tensor<64x64xf32, #b>",
        "%0 = amdg.buffer_load %p[%o] : !tt.ptr<f32> -> tensor<",
    ),
    (
        AMD,
        "%0 = amdg.buffer_load %p[%o], %m, %v cacheModifier = ca stride = %s : tensor<64x64xf32, #b>",
        (
            "%0 = amdg.buffer_load %p[%o], %m, %v stride = %s"
            " {cachePolicy = #tt.cache_policy<cache_modifier = ca, eviction_policy = evict_normal>} : !tt.ptr<f32> -> tensor<"
        ),
    ),
    (
        AMD,
        "amdg.buffer_store %v, %p[%o], %m stride = %s : tensor<64x64xf32, #b>",
        "amdg.buffer_store %v, %p[%o], %m stride = %s : !tt.ptr<f32> -> tensor<",
    ),
    (
        AMD,
        "%0 = amdg.buffer_atomic_rmw fadd, acq_rel, gpu, %v, %p[%o] : tensor<64x64xf32, #b>",
        "%0 = amdg.buffer_atomic_rmw fadd, acq_rel, gpu, %v, %p[%o] : !tt.ptr<f32> -> tensor<",
    ),
    (
        AMD,
        (
            "%0 = amdg.buffer_load_to_local %p[%o] mask = %m into %mem : <f32>[tensor<64x64xi32, #b>]"
            " -> <64x64xf32, #shared, #smem, mutable>"
        ),
        "%0 = amdg.buffer_load_to_local %p[%o] mask = %m into %mem : !tt.ptr<f32>[tensor<64x64xi32, #blocked>]  -> <64x64",
    ),
    (
        AMD,
        (
            "%0 = amdg.local_load_packed_tranposed %bytes : !ttg.memdesc<16x64xi8, #shared, #smem, mutable>"
            " -> tensor<32x32xi8, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 16}>>"
        ),
        "%0 = amdg.local_load_packed_transposed %bytes : !ttg.memdesc<",
    ),
    (
        NVIDIA,
        (
            "%0 = ttng.tmem_subslice %t {N = 32 : i32} : !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>"
            " -> !ttg.memdesc<128x32xf32, #tmem, #ttng.tensor_memory, mutable, 128x64>"
        ),
        "%0 = ttng.tmem_subslice %t {offset = 32 : i32} : !ttg.memdesc<",
    ),
    (
        NVIDIA,
        (
            "ttng.async_tma_copy_global_to_local %d[%x, %x] cacheModifier = cg evictionPolicy = evict_last %mem, %bar, %p :"
            " !tt.tensordesc<64x64xf16, #shared>, !ttg.memdesc<1xi64, #shared1, #smem, mutable>"
            " -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>"
        ),
        (
            "ttng.async_tma_copy_global_to_local %d[%x, %x] %mem, %bar, %p"
            " {cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_last>} : !tt.tensordesc<"
        ),
    ),
]


@pytest.mark.parametrize("frame, older, today", CASES, ids=[case[1].split("(")[0][:40] for case in CASES])
def test_older_spelling(frame, older, today):
    module = parse_module(frame.replace("LINE", older))
    verify(module)
    printed = print_op(module)
    assert f"\n    {today}" in printed
    again = parse_module(printed)
    verify(again)
    assert print_op(again) == printed
