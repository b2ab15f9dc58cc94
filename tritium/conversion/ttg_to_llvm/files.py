"""The module that lowers each operation, so that a compile imports only the modules it needs.

An operation without a row here is found, too, by importing all modules. Those of `nvidia` print NVVM intrinsics and
PTX; other GPUs have lowerings of their own for such operations, or refuse them.
"""

from __future__ import annotations

__all__ = ["FILES"]

FILES = {
    "arith": """
        arith.constant ub.poison arith.addi arith.subi arith.muli arith.andi arith.ori arith.xori arith.cmpi
        arith.select arith.divsi arith.divui arith.remsi arith.remui arith.ceildivsi arith.ceildivui
        arith.floordivsi arith.shli arith.shrsi arith.shrui arith.mulsi_extended arith.mului_extended tt.mulhiui
        arith.addui_extended
    """,
    "nvidia.async_copy": "ttg.async_copy_global_to_local ttg.async_commit_group ttg.async_wait",
    "nvidia.atomics": "tt.atomic_rmw tt.atomic_cas tt.atomic_load tt.atomic_store tt.atomic_poll",
    "nvidia.async_store": "ttng.async_shared_store",
    "casts": """
        arith.extsi arith.extui arith.trunci arith.index_cast arith.index_castui arith.sitofp arith.uitofp
        arith.fptosi arith.fptoui tt.fp_to_fp arith.extf arith.truncf arith.convertf arith.bitcast tt.bitcast
        tt.int_to_ptr tt.ptr_to_int
    """,
    "nvidia.cluster": "ttng.cluster_arrive ttng.cluster_wait ttng.cluster_barrier nvg.cluster_id",
    "convert_layout": "ttg.convert_layout ttg.barrier gpu.barrier",
    "nvidia.debug": "tt.assert tt.print",
    "dot": "tt.dot",
    "floats": """
        arith.addf arith.subf arith.mulf arith.divf tt.approx_divf tt.precise_divf arith.negf arith.cmpf
        arith.maxsi arith.minsi arith.maxui arith.minui arith.maximumf arith.minimumf arith.maxnumf
        arith.minnumf tt.clampf
    """,
    "fp4": "ttg.fp4_to_fp",
    "gather": "tt.gather",
    "histogram": "tt.histogram",
    "inline_asm": """
        tt.extern_elementwise tt.elementwise_inline_asm ttg.inline_asm tt.map_elementwise tt.map_elementwise.return
    """,
    "local_atomics": "ttg.local_atomic_scatter_rmw",
    "math": """
        math.exp math.exp2 math.expm1 math.log math.log2 math.log10 math.log1p math.sin math.cos math.tan
        math.asin math.acos math.atan math.sinh math.cosh math.tanh math.asinh math.acosh math.atanh math.rsqrt
        math.cbrt math.erf math.erfc math.atan2 math.powf arith.remf math.sqrt tt.precise_sqrt math.absf
        math.ceil math.floor math.trunc math.round math.roundeven math.copysign math.fma math.ctpop math.absi
        math.ctlz math.cttz
    """,
    "math_extended": """
        arith.subui_extended math.isnan math.isinf math.isfinite math.isnormal math.clampf math.sincos math.fpowi
    """,
    "nvidia.mbarrier": """
        ttng.init_barrier ttng.inval_barrier ttng.barrier_expect ttng.arrive_barrier ttng.wait_barrier
        ttng.async_copy_mbarrier_arrive ttng.fence_async_shared ttng.fence_mbarrier_init_release_cluster
    """,
    "memory": "tt.addptr tt.load tt.store",
    "program": """
        tt.get_program_id tt.get_num_programs ttg.global_scratch_alloc ttg.warp_id nvvm.barrier
        tt.grid_dependency_wait tt.grid_dependency_launch_dependents ub.unreachable ttg.predicate_stage
    """,
    "reduce": "tt.reduce.return tt.scan.return tt.reduce",
    "scan": "tt.scan",
    "shape": """
        tt.make_range tt.splat tt.unsplat tt.expand_dims tt.broadcast tt.trans tt.reshape tt.cat tt.join
        tt.split
    """,
    "shared_memory": """
        ttg.local_alloc ttg.local_dealloc ttg.local_store ttg.local_load ttg.local_gather ttg.local_scatter
        ttg.memdesc_index ttg.memdesc_subslice ttg.memdesc_trans ttg.memdesc_reshape ttg.memdesc_reinterpret
    """,
    "nvidia.tensormap": """
        ttng.tensormap_create ttng.tensormap_fenceproxy_acquire ttng.reinterpret_tensor_descriptor
    """,
    "nvidia.tma": """
        ttng.async_tma_copy_global_to_local ttng.async_tma_copy_local_to_global ttng.async_tma_reduce
        ttng.async_tma_store_wait
    """,
    "nvidia.tma_gather": "ttng.async_tma_gather ttng.async_tma_scatter",
    "nvidia.wgmma": "ttng.warp_group_dot ttng.warp_group_dot_wait",
    "nvidia.warp_specialize": "ttg.warp_specialize ttg.warp_yield ttg.warp_return",
}
"""Module -> the operations (names separated by spaces) that it registers lowerings of."""
