"""Interfaces that ops declare: they agree with the definition of the op, and no op that accesses memory lacks one."""

import pytest

import tritium.dialects.all
from tritium.dialects import amdg, tt, ttg, ttng
from tritium.ir import (
    CAST,
    ELEMENTWISE,
    EXTENDS,
    OPS,
    PURE,
    READ,
    REARRANGES,
    REMATERIALIZABLE,
    REPEATS,
    WRITE,
    Completion,
    DotLike,
    Memory,
    MemoryAccess,
    ViewLike,
    WaitLike,
    accessed_values,
    element_type,
    f32,
    is_descriptor_load,
    is_descriptor_store,
    is_global_load,
    is_tma_copy,
    parse_module,
)

assert tritium.dialects.all
ACCESSES = [op for op in OPS.values() if issubclass(op, MemoryAccess) and isinstance(op.accesses, tuple)]

#: Ops with effects that order other ops and access no memory through operands, or that no pass treats as accesses yet.
WITHOUT_ACCESSES = {
    *("tt.grid_dependency_wait", "tt.grid_dependency_launch_dependents", "tt.print", "tt.assert"),
    *("ttg.barrier", "ttg.mask", "ttng.async_tma_store_wait", "ttng.tensormap_fenceproxy_acquire"),
    *("ttng.fence_async_shared", "ttng.fence_mbarrier_init_release_cluster", "ttng.tmem_wait"),
    *("ttng.cluster_arrive", "ttng.cluster_wait", "ttng.cluster_barrier"),
    # conservative: whatever these touch counts as read and written
    *("ttng.tensormap_create", "ttng.async_shared_store", "ttng.clc_try_cancel", "ttng.clc_try_cancel_sync"),
    *("ttng.clc_load_result", "ttng.tc_gen5_mma", "ttng.tc_gen5_mma_scaled", "ttng.tc_gen5_commit", "ttng.tmem_copy"),
}


@pytest.mark.parametrize("op", ACCESSES, ids=lambda op: op.name)
def test_accesses_name_fields_and_stay_within_the_effects_of_the_op(op):
    operands = {f.name for f in op.operand_fields}
    assert {access.name for access in op.accesses} <= operands
    declared = 0
    for access in op.accesses:
        declared |= access.effects
    assert declared & ~(op.traits & (READ | WRITE)) == 0


def test_every_op_with_memory_effects_declares_its_accesses():
    missing = {
        name
        for name, op in OPS.items()
        if name.partition(".")[0] in ("tt", "ttg", "ttng")
        and op.traits & (READ | WRITE)
        and not issubclass(op, MemoryAccess)
    }
    assert missing == WITHOUT_ACCESSES


def test_views_of_buffers_are_pure_and_alias_their_source():
    views = {op for op in OPS.values() if issubclass(op, ViewLike)}
    assert views >= {op for name, op in OPS.items() if name.startswith("ttg.memdesc_")}
    assert all(op.operand_fields[0].name == "src" and len(op.result_fields) == 1 for op in views)


def test_the_first_operands_of_dots_are_lhs_rhs_and_accumulator():
    dots = {op for op in OPS.values() if issubclass(op, DotLike)}
    assert dots == {tt.Dot, tt.DotScaled, ttng.WarpGroupDot, ttng.TCGen5MMA, ttng.TCGen5MMAScaled}
    for op in dots:
        assert [f.name for f in op.operand_fields][:2] == ["a", "b"]
        assert op.operand_fields[2].name in ("c", "d")


def test_each_kind_of_completion_has_a_wait():
    waited = {op.waits_for for op in OPS.values() if issubclass(op, WaitLike)}
    assert waited == set(Completion)


ACCESS_TEXT = """
#smem = #ttg.shared_memory
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @f(%p: !tt.ptr<f32>, %d: !tt.tensordesc<16x16xf16, #tile>, %i: i32, %t: i1,
                    %b: !ttg.memdesc<1xi64, #flat, #smem, mutable>, %x: f32) {
    %0 = tt.load %p : !tt.ptr<f32>
    tt.store %p, %x : !tt.ptr<f32>
    %1 = tt.atomic_rmw fadd, acq_rel, gpu, %p, %x, %t : (!tt.ptr<f32>, f32, i1) -> f32
    %2 = tt.atomic_rmw fadd, relaxed, gpu, %p, %x, %t : (!tt.ptr<f32>, f32, i1) -> f32
    %a = ttg.local_alloc : () -> !ttg.memdesc<16x16xf16, #tile, #smem, mutable>
    ttng.async_tma_copy_global_to_local %d[%i, %i] %a, %b, %t
      : !tt.tensordesc<16x16xf16, #tile>, !ttg.memdesc<1xi64, #flat, #smem, mutable>
        -> !ttg.memdesc<16x16xf16, #tile, #smem, mutable>
    tt.return
  }
}
"""


def test_accessed_values_and_predicates_of_parsed_ops():
    load, store, release, relaxed, alloc, copy = list(parse_module(ACCESS_TEXT).body.first.regions[0].blocks[0])[:-1]
    assert is_global_load(load) and not is_global_load(store) and not is_global_load(release)
    assert list(accessed_values(store, WRITE)) == [store.ptr] and list(accessed_values(store, READ)) == []
    assert release.releases and not relaxed.releases and release.atomic and not load.atomic
    assert list(accessed_values(alloc)) == []  # no initial contents
    assert list(accessed_values(copy, WRITE, Memory.SHARED)) == [copy.result]
    assert list(accessed_values(copy, READ, Memory.GLOBAL)) == [copy.desc]
    assert is_tma_copy(copy) and not is_tma_copy(load) and copy.completion_barrier is copy.barrier


def test_loads_by_descriptor_are_global_loads_and_stores_are_not():
    loads = (tt.DescriptorLoad, tt.DescriptorGather, amdg.BufferLoad, tt.Load)
    made = [op.create([], []) for op in loads]
    assert all(map(is_global_load, made))
    assert [is_descriptor_load(op) for op in made] == [True, True, False, False]
    stores = [op.create([], []) for op in (tt.DescriptorStore, tt.DescriptorReduce, tt.DescriptorScatter, tt.Store)]
    assert not any(map(is_global_load, stores))
    assert [is_descriptor_store(op) for op in stores] == [True, True, True, False]
    assert not is_global_load(None) and not is_global_load(ttg.LocalLoad.create([], []))


@pytest.mark.parametrize(
    ("trait", "implied"),
    [(REPEATS, REARRANGES), (REARRANGES, PURE), (EXTENDS, CAST), (CAST, PURE | ELEMENTWISE), (REMATERIALIZABLE, PURE)],
)
def test_traits_imply_others(trait, implied):
    ops = [op for op in OPS.values() if op.traits & trait]
    assert len(ops) > 2 and all(op.traits & implied == implied for op in ops)


def test_rearranging_ops_keep_the_element_type():
    module = parse_module(REARRANGED)
    for op in module.walk():
        if op.traits & REARRANGES:
            assert {element_type(v.type) for v in (*op.operands, *op.results)} == {f32}
    assert {type(op) for op in module.walk() if op.traits & REARRANGES} == {
        op for name, op in OPS.items() if op.traits & REARRANGES and name.startswith("tt.")
    }


REARRANGED = """
tt.func @f(%x: f32) {
  %a = tt.splat %x : f32 -> tensor<8xf32>
  %b = tt.expand_dims %a {axis = 0 : i32} : tensor<8xf32> -> tensor<1x8xf32>
  %c = tt.broadcast %b : tensor<1x8xf32> -> tensor<4x8xf32>
  %d = tt.trans %c {order = array<i32: 1, 0>} : tensor<4x8xf32> -> tensor<8x4xf32>
  %e = tt.reshape %d : tensor<8x4xf32> -> tensor<32xf32>
  %g = tt.join %e, %e : tensor<32xf32> -> tensor<32x2xf32>
  %h, %i = tt.split %g : tensor<32x2xf32> -> tensor<32xf32>
  tt.return
}
"""
