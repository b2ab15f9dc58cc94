"""Triton's `add_` functions: which passes each adds to a pass manager, by the path of the binding.

`ADDERS["passes.ttgpuir.add_pipeline"]` is a function of Triton's arguments that returns rows for `ir.passes`: the text
of a pass with options, or a `Pass`. Argument lists are those of Triton 3.9; parameters with defaults are those that
earlier releases do not pass. `REFUSED` has the functions whose pass does not exist here, with what to use instead.

Three kinds of rows stand for passes of Triton's that have nothing to transform here:

- `_requires_no(...)` checks that the module has no operation that only this pass could handle (tensor memory, arefs,
  cluster launch control), and refuses it by name and source line if it has;
- `_lowering(...)` stands for a step of MLIR's LLVM dialect: `add_to_llvmir` only marks the module, whose text
  `llvm.to_module` makes in one step;
- `_unneeded(...)` stands for what another pass, or the lowering, does here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from .. import conversion, transforms
from ..ir import UNIT, IntegerAttr, LoopLike, Operation, Pass, i32, print_op, remark
from ..support import UnsupportedOperation

__all__ = ["ADDERS", "LINE_INFO", "LOWERED_FOR", "REFUSED", "Rows"]

_ = conversion, transforms  # their passes are known by name once they are imported

Rows = list["str | Pass"]
Adder = Callable[..., Rows]

#: Attribute of a module that went through `add_to_llvmir`: the compute capability it is lowered for.
LOWERED_FOR = "tritium.lowered_for"

#: Attribute of a module that went through `add_di_scope`.
LINE_INFO = "tritium.line_info"


def _adds(*rows: str | Pass) -> Adder:
    return lambda: list(rows)


def _requires_no(name: str, *operations: str, instead: str) -> Pass:
    """A row that refuses modules with one of these operations ("ttng.tmem_": any whose name begins so)."""

    def check(module: Operation) -> bool:
        for op in module.walk():
            if op.name.startswith(operations):
                raise UnsupportedOperation(op, f"has no lowering here: the pass {name} is not implemented; {instead}")
        return False

    return Pass(name, check)


def _tensor_memory(name: str) -> Pass:
    return _requires_no(
        name, "ttng.tmem_", "ttng.tc_gen5", instead="accelerate-matmul selects mma.sync and wgmma, which need none"
    )


def _arefs(name: str) -> Pass:
    return _requires_no(name, "nvws.", instead="nvgpu-warp-specialization makes partitions without arefs")


def _launch_control(name: str) -> Pass:
    return _requires_no(name, "ttng.clc_", "ttng.async_clc_", instead="compile without clc=True")


def _nothing(module: Operation) -> bool:
    return False


def _keep_barriers(module: Operation) -> bool:
    """The pipeliner makes mbarriers before loops; those of a TMA load that is not pipelined stay where they are."""
    for op in module.walk():
        if op.name == "ttng.init_barrier" and isinstance(op.parent_op, LoopLike):
            remark(op, "this mbarrier is initialized in every iteration: hoist-mbarrier-lifecycle is not implemented")
    return False


def _lowering(name: str) -> Pass:
    return Pass(name, _nothing, "a step of the lowering to LLVM IR, which llvm.to_module does")


def _unneeded(name: str, why: str) -> Pass:
    return Pass(name, _nothing, why)


def _setting(name: str, attribute: str, value: int | None) -> Pass:
    def change(module: Operation) -> bool:
        module.attributes[attribute] = UNIT if value is None else IntegerAttr(value, i32)
        return True

    return Pass(name, change)


def _print(module: Operation) -> bool:
    print(print_op(module, locations=True), file=sys.stderr)
    return False


def _bool(value: bool) -> str:
    return str(bool(value)).lower()


def _convert(target: str, num_warps: int, threads_per_warp: int = 32, num_ctas: int = 1) -> Rows:
    """First layouts; before it, what the hardware cannot do with descriptors and scaled dots is rewritten."""
    capability = target.removeprefix("cuda:")
    number = int(capability) if target.startswith("cuda:") and capability.isdigit() else 0
    machine = f"target={target} num-warps={num_warps} threads-per-warp={threads_per_warp} num-ctas={num_ctas}"
    return [
        f"rewrite-tensor-descriptor-to-pointer{{native={number if number >= 90 else 0}}}",
        f"decompose-scaled-dot{{tensor-cores={_bool(number >= 80)}}}",
        f"convert-triton-to-tritongpu{{{machine}}}",
    ]


def _minimum_shared(size: int) -> Rows:
    def raise_to(module: Operation) -> bool:
        there = module.attributes.get("ttg.shared")
        used = there.value if isinstance(there, IntegerAttr) else 0
        module.attributes["ttg.shared"] = IntegerAttr(max(used, size), i32)
        return used < size

    return [Pass("triton-nvidia-gpu-set-minimum-shared-memory", raise_to)]


def _warp_specialization(num_stages: int, dump_intermediate: bool = False) -> Rows:
    return [f"nvgpu-warp-specialization{{num-stages={num_stages}}}"]


_COMMON: dict[str, Adder] = {
    "add_canonicalizer": _adds("canonicalize"),
    "add_cse": _adds("cse"),
    "add_inliner": _adds("inliner"),
    "add_licm": _adds("licm"),
    "add_sccp": _adds("sccp"),
    "add_symbol_dce": _adds("symbol-dce"),
    "print_ir": _adds(Pass("print-ir", _print)),
}

_TTIR: dict[str, Adder] = {
    "add_combine": _adds("combine"),
    "add_convert_to_ttgpuir": _convert,
    "add_loop_aware_cse": _adds("loop-aware-cse"),
    "add_loop_unroll": _adds("loop-unroll"),
    "add_reorder_broadcast": _adds("reorder-broadcast"),
    "add_rewrite_tensor_descriptor_to_pointer": _adds("rewrite-tensor-descriptor-to-pointer"),
    "add_rewrite_tensor_pointer": _adds("rewrite-tensor-pointer"),
    "add_triton_licm": _adds("licm"),
}

_TTGPUIR: dict[str, Adder] = {
    "add_accelerate_matmul": _adds("accelerate-matmul"),
    "add_allocate_global_scratch_memory": _adds("allocate-global-scratch"),
    "add_allocate_shared_memory": _adds("store-in-own-cta", "allocate-shared-memory"),
    "add_allocate_warp_groups": lambda instrumented=False: [
        f"allocate-warp-groups{{instrumented={_bool(instrumented)}}}"
    ],
    "add_assign_latencies": lambda num_stages=3: [f"assign-latencies{{num-stages={num_stages}}}"],
    "add_canonicalize_llvm_ir": _adds(_lowering("canonicalize-llvm-ir")),
    "add_coalesce": _adds("coalesce"),
    "add_coalesce_async_copy": _adds("coalesce-async-copy"),
    "add_combine_tensor_select_and_if": _adds("combine-tensor-select-and-if"),
    "add_f32_dot_tc": lambda emu_tf32=True: [f"f32-dot-tc{{emu-tf32={_bool(emu_tf32)}}}"],
    "add_fuse_nested_loops": _adds("fuse-nested-loops"),
    "add_hoist_tmem_alloc": lambda hoist_out_of_if=False: [_tensor_memory("tritongpu-hoist-tmem-alloc")],
    "add_optimize_accumulator_init": _adds("optimize-accumulator-init"),
    # whether conversions move above loads follows from the module's target, as Triton's callers choose it
    "add_optimize_dot_operands": lambda hoist_layout_conversion=True: ["optimize-dot-operands"],
    "add_optimize_partition_warps": _adds(
        _unneeded("tritongpu-optimize-partition-warps", "nvgpu-warp-specialization chooses the warps of partitions")
    ),
    "add_optimize_thread_locality": _adds("optimize-thread-locality"),
    "add_pipeline": lambda num_stages, dump_intermediate=False: [f"pipeline{{num-stages={num_stages}}}"],
    "add_prefetch": _adds("prefetch"),
    "add_reduce_data_duplication": _adds("reduce-data-duplication"),
    "add_remove_layout_conversions": lambda through_shared_memory=False: ["remove-layout-conversions"],
    "add_reorder_instructions": _adds("reorder-instructions"),
    "add_schedule_loops": _adds("schedule-loops"),
    "add_warp_specialize": _warp_specialization,
}

_CONVERT: dict[str, Adder] = {
    name: _adds(_lowering(title))
    for name, title in (
        ("add_arith_to_llvmir", "convert-arith-to-llvm"),
        ("add_cf_to_llvmir", "convert-cf-to-llvm"),
        ("add_index_to_llvmir", "convert-index-to-llvm"),
        ("add_nvvm_to_llvm", "convert-nvvm-to-llvm"),
        ("add_reconcile_unrealized_casts", "reconcile-unrealized-casts"),
        ("add_scf_to_cf", "convert-scf-to-cf"),
    )
}

_GLUON: dict[str, Adder] = {"add_canonicalizer": _adds("canonicalize"), "add_inliner": _adds("inliner")}

_NV_TTGPUIR: dict[str, Adder] = {
    "add_allocate_shared_memory_nv": lambda capability, ptx_version=None: [
        "store-in-own-cta",
        "allocate-shared-memory",
    ],
    "add_membar": lambda capability=None, ptx_version=None: ["insert-barriers"],
    "add_set_minimum_shared_memory": _minimum_shared,
    "add_to_llvmir": lambda capability, ptx_version=None: [
        _setting("convert-triton-gpu-to-llvm", LOWERED_FOR, capability)
    ],
}

_CLUSTER_LOWERING = "barriers of clusters are made where they are lowered"

_NV_TTNVGPUIR: dict[str, Adder] = {
    "add_allocate_tensor_memory": _adds(
        _tensor_memory("triton-tensor-memory-allocation"),
        _setting("triton-tensor-memory-size", "ttg.tensor_memory_size", 0),
    ),
    "add_assign_cga_layouts": _adds("assign-cga-layouts"),
    "add_check_matmul_two_cta": _adds(_tensor_memory("triton-nvidia-check-matmul-two-cta")),
    "add_cluster_barrier_mbar_allocator": _adds(_unneeded("cluster-barrier-mbar-allocator", _CLUSTER_LOWERING)),
    "add_fence_insertion": lambda capability=None: ["fence-insertion"],
    "add_hoist_mbarrier_lifecycle": lambda capability=None: [Pass("hoist-mbarrier-lifecycle", _keep_barriers)],
    "add_initialize_ws_cluster_barriers": lambda capability=None, ptx_version=None: [
        _unneeded("initialize-ws-cluster-barriers", _CLUSTER_LOWERING)
    ],
    "add_interleave_tmem": _adds(_tensor_memory("triton-nvidia-interleave-tmem")),
    "add_lower_clc": _adds(_launch_control("triton-nvidia-lower-clc")),
    "add_lower_mma": _adds(_tensor_memory("triton-nvidia-mma-lowering")),
    "add_nvgpu_to_llvm": _adds(_lowering("convert-nv-gpu-to-llvm")),
    "add_optimize_cta_locality": _adds("optimize-cta-locality"),
    "add_optimize_descriptor_encoding": _adds("optimize-descriptor-encoding"),
    "add_optimize_tmem_layouts": _adds(_tensor_memory("triton-nvidia-optimize-tmem-layouts")),
    "add_plan_cta": lambda cluster_info=None: ["assign-cga-layouts"],
    "add_promote_lhs_to_tmem": _adds(_tensor_memory("tritongpu-promote-lhs-to-tmem")),
    "add_proxy_fence_insertion": lambda capability=None: ["proxy-fence-insertion"],
    "add_remove_tmem_tokens": _adds(_tensor_memory("triton-nvidia-remove-tmem-tokens")),
    "add_tma_lowering": _adds("tma-lowering"),
    "add_tmem_barrier_insertion": _adds(_tensor_memory("triton-nvidia-tmem-barrier-insertion")),
    "add_tmem_load_reduce": _adds(_tensor_memory("triton-nvidia-tmem-load-reduce")),
    "add_tmem_wait_insertion": _adds(_tensor_memory("triton-nvidia-tmem-wait-insertion")),
    "add_warp_specialize_to_llvm": _adds(_lowering("triton-nvidia-warp-specialize-to-llvm")),
}

_NV_NVWS = {
    "add_assign_stage_phase": _adds(_arefs("nvws-assign-stage-phase")),
    "add_insert_tmem_aref": _adds(_arefs("nvws-insert-tmem-aref")),
    "add_lower_aref": _adds(_arefs("nvws-lower-aref")),
    "add_lower_warp_group": _adds(_arefs("nvws-lower-warp-group")),
}

ADDERS: dict[str, Adder] = {
    f"{path}.{name}": adder
    for path, adders in (
        ("passes.common", _COMMON),
        ("passes.ttir", _TTIR),
        ("passes.ttgpuir", _TTGPUIR),
        ("passes.convert", _CONVERT),
        ("passes.gluon", _GLUON),
        ("passes.llvmir", {"add_di_scope": _adds(_setting("enable-line-info", LINE_INFO, None))}),
        ("nvidia.passes.ttgpuir", _NV_TTGPUIR),
        ("nvidia.passes.ttnvgpuir", _NV_TTNVGPUIR),
        ("nvidia.passes.hopper", {"add_hopper_warpspec": _warp_specialization}),
        ("nvidia.passes.nvws", _NV_NVWS),
    )
    for name, adder in adders.items()
}

_SANITIZER = "the emulator checks a launch for races, uninitialized memory and bounds (docs/emulator.md)"
_AMD = "the stages for AMD GPUs end at ttir, which Triton compiles further"
_AMD_PASSES = (
    "accelerate_matmul allocate_shared_memory block_pingpong builtin_func_to_llvmir canonicalize_pointers "
    "coalesce_async_copy convert_to_buffer_ops convert_to_tensor_ops fold_true_cmpi fp_sanitizer "
    "hoist_layout_conversions in_thread_transpose membar move_up_prologue_loads optimize_buffer_op_ptr "
    "optimize_descriptor_encoding optimize_dot_operands optimize_epilogue pipeline prepare_consan_captures "
    "prepare_if_combining schedule_loops sink_layout_conversions to_llvmir update_async_wait_count "
    "warp_pipeline warp_pipeline_conversion warp_specialize_to_llvm"
)
_ANALYSIS = (
    "tritium.analysis.allocation and .membar have these analyses, allocate-shared-memory and insert-barriers run them"
)

REFUSED: dict[str, str] = {
    "passes.ttgpuir.add_concurrency_sanitizer": _SANITIZER,
    "passes.ttgpuir.add_fp_sanitizer": _SANITIZER,
    "passes.ttgpuir.add_global_sanitizer": _SANITIZER,
    "passes.ttgpuir.add_prepare_consan_captures": _SANITIZER,
    "passes.gluon.add_infer_coalesced_encodings": "kernels are written in the Triton language, not in Gluon",
    "passes.gluon.add_resolve_auto_encodings": "kernels are written in the Triton language, not in Gluon",
    "passes.llvmir.add_di_local_variable": "line information names files and lines, no variables: use add_di_scope",
    "passes.analysis.allocation": _ANALYSIS,
    "passes.analysis.membar": _ANALYSIS,
    "passes.plugin.extend_with": "extensions are Python modules, see docs/plugins.md",
    "nvidia.passes.ttnvgpuir.add_to_clc": "cluster launch control is not implemented: compile without clc=True",
    **{f"amd.passes.ttgpuir.add_{name}": _AMD for name in _AMD_PASSES.split()},
}
