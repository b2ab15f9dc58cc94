"""What operations of the GPU dialects demand: each line is refused, for the reason that stands beside it."""

from __future__ import annotations

import pytest

import tritium.dialects  # noqa: F401  (it notes where the dialects are)
from tritium.ir import parse_module, verify
from tritium.ir.parser import ParseError
from tritium.ir.verifier import VerificationError

NVIDIA = """\
#blocked = #ttg.blocked<{sizePerThread = [1, 64], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#split = #ttg.blocked<{sizePerThread = [1, 32], threadsPerWarp = [16, 2], warpsPerCTA = [4, 1], order = [0, 1]}>
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#other = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#plain = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#pairs = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 2>
!bar = !ttg.memdesc<1xi64, #bar, #smem, mutable>
!a = !ttg.memdesc<128x64xf16, #shared, #smem>
!b = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
!o = !ttg.memdesc<64x64xf16, #other, #smem, mutable>
!p = !ttg.memdesc<64x64xf16, #plain, #smem>
!d = !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory, mutable>
!d16 = !ttg.memdesc<128x64xf16, #pairs, #ttng.tensor_memory, mutable>
!k = !ttg.memdesc<128x64xf32, #tmem, #ttng.tensor_memory>
!desc = !tt.tensordesc<64x64xf16, #shared>
!row = !tt.tensordesc<1x64xf16, #shared>
!v = tensor<128x64xf32, #blocked>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {
  tt.func @f(%bar: !bar, %a: !a, %b: !b, %o: !o, %p: !p, %d: !d, %d16: !d16, %k: !k, %desc: !desc, %row: !row, %v: !v,
      %c: tensor<64x64xf32, #mma>, %w: tensor<64x64xf32>, %x: i32, %y: i64, %q: i1, %rows: tensor<64xi32, #line>,
      %big: i128, %i8: tensor<64x32xi8>, %addr: !tt.ptr<i8>) {
    LINE
    tt.return
  }
}
"""
AMD = """\
#b = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#b4 = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#n = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 64 : i32} {
  tt.func @f(%p: !tt.ptr<f32>, %o: tensor<64x64xi32, #b>, %m: tensor<64x64xi1, #n>, %v: tensor<64x64xf32, #b>, %s: i32,
      %h: tensor<64x64xf16, #b>, %t: tensor<128x128xf32, #b4>, %mem: !ttg.memdesc<64x64xf32, #shared, #smem, mutable>,
      %bar: !ttg.memdesc<1xi64, #bar, #smem, mutable>, %d: !tt.tensordesc<64x64xf32, #shared>, %q: i1) {
    LINE
    tt.return
  }
}
"""
ON_NVIDIA = {
    "ttng.init_barrier %bar, 0 : !bar": "count is 0",
    "ttng.init_barrier %b, 1 : !b": "a barrier is a buffer of at most 1 i64",
    "ttng.wait_barrier %bar, %y : !bar": "the phase must be i32, not i64",
    "ttng.barrier_expect %bar, 8, %x : !bar": "the predicate must be i1, not i32",
    "ttng.arrive_barrier %bar, 1 {multicastCTA = 1 : i32} : !bar": "a mask over the CTAs of the cluster (1)",
    "ttng.cluster_barrier": "needs ttg.num-ctas > 1",
    "ttng.fence_mbarrier_init_release_cluster": "needs ttg.num-ctas > 1",
    "ttng.clc_try_cancel %bar, %bar : !bar, !bar": "the answer needs a buffer of two i64",
    "%0 = ttng.clc_is_canceled %x : i32 -> i1": "the answer must be i128, not i32",
    "%0 = ttng.clc_try_cancel_sync : tensor<4xi64>": "a tensor of two i64",
    "%0 = ttng.packed_arith add %w : (tensor<64x64xf32>) -> tensor<64x64xf32>": "add has 2 operands, not 1",
    "%0 = ttng.packed_arith add %w, %i8 : (tensor<64x64xf32>, tensor<64x32xi8>) -> tensor<64x64xi32>": "be of floats",
    "%0 = ttng.packed_arith add %w, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x32xf32>": "does not fit",
    "%0 = ttng.warp_group_dot %a, %b, %c : !a * !b -> tensor<64x64xf32, #mma>": "the shapes do not fit",
    "%0 = ttng.warp_group_dot %b, %p, %c : !b * !p -> tensor<64x64xf32, #mma>": "b must have the layout of a shared",
    "%0 = ttng.warp_group_dot %b, %b, %w : !b * !b -> tensor<64x64xf32>": "a layout #ttg.nvidia_mma of version 3",
    '"ttng.warp_group_dot_wait"() <{pendings = 0 : i32}> : () -> ()': "waits for at least one value",
    "ttng.async_tma_copy_global_to_local %desc[%x] %b, %bar, %q : !desc, !bar -> !b": "needs as many coordinates",
    "ttng.async_tma_copy_global_to_local %desc[%x, %x] %o, %bar, %q : !desc, !bar -> !o": "must have one layout",
    "ttng.async_tma_copy_global_to_local %desc[%x, %x] %b, %b, %q : !desc, !b -> !b": "a barrier is a buffer of",
    "ttng.async_tma_copy_global_to_local %desc[%x, %x] %b, %bar, %q {multicast} : !desc, !bar -> !b": "several CTAs",
    "ttng.async_tma_copy_global_to_local %desc[%x, %x] %a, %bar, %q : !desc, !bar -> !a": "must be mutable",
    'ttng.async_tma_copy_local_to_global %desc[%x, %x] %b {cachePolicy = "ca"} : !desc, !b': "cachePolicy must be",
    "ttng.async_tma_copy_local_to_global %desc[%y, %x] %b : !desc, !b": "coordinates must be i32, not i64",
    "ttng.async_tma_reduce inc, %desc[%x, %x] %b : !desc, !b": "there is no inc of f16",
    "ttng.async_tma_gather %row[%rows, %x] %b, %bar, %q : !row, tensor<64xi32, #line>, i32, !bar, !b, i1": "4 rows",
    "ttng.async_tma_scatter %desc[%rows, %x] %b : !desc, tensor<64xi32, #line>, i32, !b": "blocks of one row",
    "ttng.tensormap_create %addr, %addr, [%x], [%x, %x], [], [%x] {elem_type = 16 : i32, fill_mode = 0 : i32,"
    " interleave_layout = 0 : i32, swizzle_mode = 0 : i32} : (!tt.ptr<i8>, !tt.ptr<i8>, i32, i32, i32, i32) -> ()":
        "elem_type is 16, it must be 0 to 15",
    "%0 = ttng.reinterpret_tensor_descriptor %addr : !tt.ptr<i8> to i32": "the result must be a descriptor",
    "ttng.tc_gen5_mma %a, %b, %d, %q, %q, %bar[%q] : !a, !b, !d, !bar": "has barriers, but is not asynchronous",
    "ttng.tc_gen5_mma %a, %p, %d, %q, %q : !a, !p, !d": "b must have the layout of a shared operand",
    "ttng.tc_gen5_mma %b, %b, %d, %q, %q : !b, !b, !d": "the shapes do not fit",
    "ttng.tc_gen5_mma %a, %b, %d, %q, %q {two_ctas} : !a, !b, !d": "two_ctas and twoCTAs",
    "ttng.tc_gen5_mma %a, %b, %d, %x, %q : !a, !b, !d": "predicates must be i1",
    "ttng.tc_gen5_commit %b : !b": "a barrier is a buffer of",
    "ttng.tc_gen5_commit %bar descs %a, %a, %a, %a, %a : !bar, !a, !a, !a, !a, !a": "at most 4 are allowed",
    "%0 = ttng.tmem_alloc : () -> !k": "a buffer without content must be mutable",
    "%0 = ttng.tmem_alloc : () -> !b": "makes a buffer in tensor memory",
    "%0 = ttng.tmem_load %d : !d -> tensor<128x32xf32>": "must have one shape and element type",
    "%0 = ttng.tmem_load %d {redOp = #ttng.redOp<max>} : !d -> !v": "need each other",
    "%0, %1 = ttng.tmem_load %d {redOp = #ttng.redOp<max>} : !d -> tensor<128x64xf32, #split>, tensor<128xf32>":
        "each thread must hold a whole row",
    "ttng.tmem_store %v, %k, %q : !v -> !k": "the buffer must be mutable",
    "%0 = ttng.tmem_subslice %d {offset = 48 : i32} : !d -> !ttg.memdesc<128x32xf32, #tmem, #ttng.tensor_memory,"
    " mutable, 128x64>": "cannot begin at 48 of 64",
    "ttng.tmem_copy %p, %d : !p, !d": "the shape of the source",
    '%0 = nvws.aref.create %b : !nvws.aref<[!a]>': "does not name the types of the buffers",
    "nvws.descriptor_load %desc[%x, %y] 8 %b : !desc, i32, i64, !b": "positions must be i32",
    "%0 = nvws.create_token {loadType = 1 : i32, numBuffers = 3 : i32} : tensor<2x!nvws.token>": "a tensor of 3 tokens",
    "tti.experimental_assert_uniform %x, \"m\"": "the condition must be i1",
    "%0 = tti.experimental_buffer_descriptors [0], [1, 2], shared_mem : tensor<1xi64>": "need as many lengths",
    "%0 = tti.experimental_fpsan_embed %w : (tensor<64x64xf32>) -> tensor<64x64xi16>": "no such element of a ring",
    "tti.experimental_gsan_mbarrier_wait %addr, %bar, %x, %x : <i8>, !bar": "pred must be i1",
    "proton_gpu.initialize %x : i32": "scratchPtr must be an address",
}  # fmt: skip
ON_AMD = {
    "%0 = amdg.buffer_load %p[%o], %m : !tt.ptr<f32> -> tensor<64x64xf32, #b>": "the mask must be",
    "%0 = amdg.buffer_load %p[%o] : !tt.ptr<f32> -> tensor<64x64xf16, #b>": "the result must be",
    "amdg.buffer_store %h, %p[%o] : !tt.ptr<f32> -> tensor<64x64xf16, #b>": "the value must be",
    "%0 = amdg.extract_slice %v [32, 32] : tensor<64x64xf32, #b> to tensor<64x32xf32, #b>": "is no part of",
    "%0 = amdg.extract_slice %v [0, 0] : tensor<64x64xf32, #b> to tensor<32x64xf32, #n>": "the same part of a tile",
    "%0 = amdg.concat %v, %v : tensor<64x64xf32, #b>, tensor<64x64xf32, #b> -> tensor<128x128xf32, #b>": "do not fill",
    "%0 = amdg.in_thread_transpose %t : tensor<128x128xf32, #b4> -> tensor<128x128xf32, #b4>": "the two dimensions",
    "%0 = amdg.scaled_upcast_fp8 %v scale %h : tensor<64x64xf32, #b>, tensor<64x64xf16, #b> -> tensor<64x64xf16, #b>":
        "the narrow type must be an 8-bit float",
    "amdg.init_barrier %mem, 1 : !ttg.memdesc<64x64xf32, #shared, #smem, mutable>": "a buffer of one i64",
    "amdg.init_barrier %bar, 0 : !ttg.memdesc<1xi64, #bar, #smem, mutable>": "count is 0",
    "amdg.cluster_barrier_wait": "needs ttg.num-ctas > 1",
    "amdg.cond_barrier %s": "the predicate must be i1",
    "%0 = amdg.async_wait %s {num_inst = 0 : i32}": "the operand must be !ttg.async.token",
    "%0 = amdg.async_tdm_copy_global_to_local %d into %mem {warp_used_hint = 7 : i32} :"
    " !tt.tensordesc<64x64xf32, #shared> -> !ttg.memdesc<64x64xf32, #shared, #smem, mutable>": "a power of two of warps",
    "%0 = amdg.async_tdm_copy_global_to_local %d into %mem {warp_used_hint = 16 : i32} :"
    " !tt.tensordesc<64x64xf32, #shared> -> !ttg.memdesc<64x64xf32, #shared, #smem, mutable>": "there are 4 warps",
    "%0 = amdg.update_tensor_descriptor %d : !tt.tensordesc<64x64xf32, #shared>": "changes nothing",
    "%0 = amdg.update_tensor_descriptor %d add_offsets = [%s] : !tt.tensordesc<64x64xf32, #shared>": "needs 2 entries",
}  # fmt: skip
CASES = [(NVIDIA, *case) for case in ON_NVIDIA.items()] + [(AMD, *case) for case in ON_AMD.items()]


@pytest.mark.parametrize("frame, line, message", CASES, ids=[f"{case[1][:50]}-{case[2][:20]}" for case in CASES])
def test_refused(frame, line, message):
    module = parse_module(frame.replace("LINE", line))
    with pytest.raises(VerificationError) as caught:
        verify(module)
    assert message in str(caught.value) and all(f.invariant == "V16" for f in caught.value.failures)


@pytest.mark.parametrize(
    "attribute, message",
    [
        ("#ttng.tensor_memory_encoding<blockM = 32, blockN = 64, colStride = 1>", "blockM is 32"),
        ("#ttng.tensor_memory_encoding<blockM = 64, blockN = 96, colStride = 1>", "blockN is 96"),
        ("#ttng.tensor_memory_encoding<blockM = 64, blockN = 64, colStride = 3>", "colStride is 3"),
        ("#ttng.tensor_memory_encoding<blockM = 64, blockN = 64, colStride = 1, twoCTAs = true>", "must be [1, 0]"),
        ("#ttng.tensor_memory_encoding<blockM = 64, blockN = 64, colStride = 2, fp4Padded = true>", "colStride must be 1"),
        ("#ttng.tensor_memory_encoding<blockM = 64, blockN = 64>", "needs the parameter 'colStride'"),
        ("#ttng.cache_policy<cache_modifier = ca, l1 = evict_last>", "exclude each other"),
        ("#ttng.cache_policy<l2_primary = evict_last>", "need each other"),
        ("#ttng.cache_policy<l2_prefetch_size = 32 : i32>", "must be 64, 128 or 256"),
        ('#ttng.cache_policy<l2_fraction = "half">', "is no FloatAttr"),
        ("#ttng.redOp<sum>", "'sum' is none of min, max"),
        ("#rocdl<sched_group_mask everything>", "is no kind of instructions"),
        ("#rocdl<sched_group_mask 4096>", "no set of kinds"),
        ("!ttng.tensordesc_im2col<64xf16>", "it describes matrices"),
        ("!proton_gpu.segment<256, #ttg.shared_memory, nobody>", "'nobody' is none of"),
        ("!nvws.aref<i32>", "expected '['"),
        ("!ttg.memdesc<64x64xf32, #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>, #ttng.tensor_memory>", "128x64"),
        ("!ttg.memdesc<128x64xf32, #ttng.tensor_memory_scales_encoding<>, #ttng.tensor_memory>", "scales are bytes"),
    ],
)  # fmt: skip
def test_contents_are_refused(attribute, message):
    with pytest.raises(ParseError) as caught:
        parse_module(f"module attributes {{test.a = {attribute}}} {{}}")
    assert message in str(caught.value)
