"""The pass pipelines of the `ttgir` stage for each generation of NVIDIA GPUs.

`convert-triton-to-tritongpu`, which assigns initial layouts, is a conversion and precedes these tables.
`nvidia_ttgir_pipeline(gpu)` is the pipeline of a GPU, `LOWERING` what precedes the conversion to LLVM IR, and
`LATER` lists passes of Triton's order that are not implemented.
"""

from __future__ import annotations

from ...dialects.ttg_context import num_ctas
from ...hardware.nvidia import NvidiaGPU, nvidia_gpu
from ...hardware.nvidia_features import ASYNC_COPY, MMA_SYNC, TMA, WGMMA
from ...ir import IfLike, LoopLike, MemoryAccess, Operation, Pass, check_order, is_descriptor_store, is_register_dot
from ...ir.passes import has_any, has_interface, rows_from
from . import PACKAGES

__all__ = ["LATER", "LOWERING", "ORDER", "nvidia_ttgir_pipeline"]

_async_wait, _layout, _memory, _mma, _pipeline, _tma, _warp_specialize = (
    rows_from(f"{__package__}.{package}") for package in PACKAGES
)
_general = rows_from(__package__.rpartition(".")[0])
"""Rows of the passes of each package, and of those for all dialects: a pass is imported when it runs."""


def _clusters(module: Operation) -> bool:
    """Whether a program is a cluster of several CTAs."""
    return num_ctas(module) > 1


def _has_warp_specialize(module: Operation) -> bool:
    """Whether a loop requests warp specialization."""
    return any("tt.warp_specialize" in op.attributes for op in module.walk())


_ACCESSED = ("load", "store", "gather", "scatter", "reduce")
_has_descriptors = has_any("tt.make_tensor_descriptor", *(f"tt.descriptor_{name}" for name in _ACCESSED))
"""Whether there are tensor descriptors that were not lowered to pointers."""


def _flattens(module: Operation) -> bool:
    """Whether a loop requests to be fused with the loop nested in it."""
    return any("tt.flatten" in op.attributes or "ttg.always-fuse" in op.attributes for op in module.walk())


def _has_dots_or_stages(module: Operation) -> bool:
    """Whether there are dots, or loops with a requested number of stages."""
    return any(is_register_dot(op) or "tt.num_stages" in op.attributes for op in module.walk())


def _has_latencies(module: Operation) -> bool:
    """Whether an operation has a latency, or a loop a schedule."""
    return any("tt.latency" in op.attributes or "tt.scheduled_max_stage" in op.attributes for op in module.walk())


def _has_schedule(module: Operation) -> bool:
    """Whether a loop has a schedule, or operations that may stay in flight across iterations."""
    return any("tt.scheduled_max_stage" in op.attributes or _completes_later(op) for op in module.walk())


def _completes_later(op: Operation) -> bool:
    """Whether `op` is a WGMMA, or a store by descriptor, whose TMA store a loop need not wait for."""
    return (is_register_dot(op) and isinstance(op, MemoryAccess)) or is_descriptor_store(op)


_ACCESSES = [  # order matters: see ORDER
    _layout("coalesce", "Coalesce global memory accesses"),
]
"""Accesses to global memory, on all GPUs."""

_LAYOUTS = [
    _layout("assign-cga-layouts", "Distribute the work of a program over the CTAs of a cluster", when=_clusters),
    _layout("remove-layout-conversions", "Give producers the layouts of their accesses"),
    _layout("optimize-cta-locality", "Recompute values within a CTA instead of exchanging them", when=_clusters),
    _layout("remove-layout-conversions", "Remove the conversions that exposes"),
]
"""The distribution of tensors over threads, on all GPUs."""

_DOTS = [
    _layout(
        "optimize-thread-locality",
        "Reduce within threads before the cross-lane reduction",
        when=has_any("tt.reshape", "tt.gather", "tt.reduce"),
    ),
    _mma(
        "accelerate-matmul",
        "Select MMA instructions and convert tt.dot to MMA layouts",
        when=has_any("tt.dot", "tt.dot_scaled"),
    ),
    _layout("remove-layout-conversions", "Keep dot results in MMA layouts"),
    _mma("optimize-dot-operands", "Fold transposes into local_load"),
]
"""Matrix multiplication, on all GPUs."""

_DESCRIPTORS = [
    _tma(
        "optimize-descriptor-encoding",
        "Assign shared memory layouts to tensor descriptors",
        when=_has_descriptors,
    ),
]
"""Layouts of tiles that TMA transfers; since Hopper."""

_OPERANDS = [_general("loop-aware-cse", "Share operands of several dots")]
"""Operands of dots, on all GPUs."""

_LOOPS = [
    _pipeline(
        "fuse-nested-loops", "Fuse loop nests that request it, to pipeline across outer iterations", when=_flattens
    ),
    _general("canonicalize", "Bring loops into canonical form before hoisting"),
    _general("licm", "Hoist loop-invariant layout conversions", when=has_interface(LoopLike)),
    _general("canonicalize", "Simplify hoisted operations"),
    _pipeline("combine-tensor-select-and-if", "Merge selects into branches", when=has_interface(IfLike)),
]
"""Loops, before software pipelining; since Ampere."""

_LOOPS_WITHOUT_ASYNC_COPIES = [
    _general("licm", "Hoist loop-invariant layout conversions", when=has_interface(LoopLike))
]
"""Loops on GPUs without asynchronous copies."""

_CLEANUP = [
    _general("canonicalize", "Clean up after the loop passes"),
    _general("loop-aware-cse", "Merge equal conversions before they become copies"),
]
"""Cleanup after the passes above."""

_PREFETCH = [
    _mma("prefetch", "Prefetch the next dot operands from shared memory into registers", when=has_any("tt.dot"))
]
"""Dots with operands in registers, on Ampere and Ada."""

_AFTER_PIPELINING = [
    _mma("optimize-dot-operands", "Fold transposes of hoisted operands"),
    _layout(
        "coalesce-async-copy",
        "Copy whole vectors, independent of register layouts",
        when=has_any("ttg.async_copy_global_to_local"),
    ),
]
"""Dots and copies after software pipelining, on all GPUs."""

_TMA = [
    _tma("tma-lowering", "Lower the remaining descriptor accesses to TMA", when=_has_descriptors),
]
"""Descriptor accesses that were not pipelined; since Hopper."""

_TAIL = [
    _layout("remove-layout-conversions", "Remove conversions between the layouts chosen above"),
    _mma(
        "reduce-data-duplication",
        "Stage replicated dot operands through shared memory",
        when=has_any("ttg.convert_layout"),
    ),
    _memory("reorder-instructions", "Reorder operations to reduce register pressure"),
    _general("loop-aware-cse", "Eliminate common subexpressions in their final layouts"),
    _general("symbol-dce", "Drop functions that are never called"),
    _async_wait(
        "fence-insertion", "Order generic-proxy writes before WGMMA reads", when=has_any("ttng.warp_group_dot")
    ),
    _pipeline("keep-rows", "Keep in shared memory what several loops load", when=has_interface(LoopLike)),
    _general("sccp", "Propagate constants"),
    _general("cse", "Eliminate common subexpressions"),
    _general("canonicalize", "Canonicalize for lowering"),
]
"""The final passes, on all GPUs."""

LOWERING = [
    _layout(
        "store-mma-rows-per-warp",
        "Store dot results without exchange between warps",
        when=has_any("tt.dot", "ttng.warp_group_dot"),
    ),
    _pipeline(
        "combine-tensor-select-and-if",
        "Merge selects that software pipelining created",
        when=has_interface(IfLike),
    ),
    _memory(
        "speculate-loads",
        "Issue loads of a branch before its memory-dependent condition is known",
        when=has_interface(IfLike),
    ),
    _memory(
        "cluster-loads",
        "Issue loads before the stores to shared memory of earlier loads",
        when=has_any("ttg.local_alloc", "ttg.local_store"),
    ),
    _pipeline(
        "late-sums",
        "Do the shuffles of row sums beside those of the next row maximum",
        when=has_any("ttng.warp_group_dot"),
    ),
    _async_wait(
        "hoist-waits",
        "Hoist waits for copies above the wait for the dot in flight",
        when=has_any("ttng.warp_group_dot"),
    ),
    _memory(
        "rematerialize-after-loops",
        "Reduce register pressure across loops",
        when=has_any("tt.dot", "tt.dot_scaled", "ttng.warp_group_dot"),
    ),
    _memory(
        "cache-hints",
        "Keep in the caches what a later loop loads again",
        when=has_interface(LoopLike),
    ),
    _layout("store-in-own-cta", "Keep shared memory accesses within a CTA", when=_clusters),
    _warp_specialize(
        "allocate-warp-groups", "Assign warps and registers to partitions", when=has_any("ttg.warp_specialize")
    ),
    _memory("allocate-shared-memory", "Allocate shared memory for buffers and scratch"),
    _async_wait(
        "proxy-fence-insertion",
        "Order generic-proxy writes before async-proxy accesses",
        when=has_any("ttng."),
    ),
    _memory("insert-barriers", "Insert CTA barriers for shared-memory hazards"),
    _memory(
        "allocate-global-scratch",
        "Allocate global scratch memory",
        when=has_any("ttg.global_scratch_alloc"),
    ),
]
"""The passes between `ttgir` and the conversion to LLVM IR, on all GPUs."""

ORDER = [
    ("f32-dot-tc", "assign-cga-layouts", "the dots it creates are distributed, too"),
    ("assign-cga-layouts", "remove-layout-conversions", "it leaves conversions around the operations it distributes"),
    ("coalesce", "remove-layout-conversions", "it inserts conversions around accesses"),
    ("f32-dot-tc", "accelerate-matmul", "it emits dots that MMA instructions exist for"),
    ("remove-layout-conversions", "accelerate-matmul", "it inspects the operands of dots"),
    ("accelerate-matmul", "optimize-dot-operands", "it chooses the layouts of operands"),
    (
        "accelerate-matmul",
        "optimize-descriptor-encoding",
        "MMA instructions determine the shared memory layout of operands",
    ),
    ("optimize-descriptor-encoding", "tma-lowering", "TMA needs the shared memory layout of a descriptor"),
    ("tma-lowering", "reorder-instructions", "its buffers and barriers are reordered as well"),
    ("optimize-thread-locality", "accelerate-matmul", "it skips reductions of dot results"),
    ("remove-layout-conversions", "reduce-data-duplication", "it expands conversions that can no longer be removed"),
    ("reduce-data-duplication", "reorder-instructions", "its buffers are reordered as well"),
    ("reduce-data-duplication", "fence-insertion", "fences depend on the writes to its buffers"),
    ("fuse-nested-loops", "optimize-accumulator-init", "fused loops initialize accumulators conditionally"),
    ("combine-tensor-select-and-if", "optimize-accumulator-init", "it moves zero-initialization into branches"),
    ("fuse-nested-loops", "licm", "operations of the outer loop may be invariant in the fused one"),
    ("licm", "assign-latencies", "invariant loads need no pipelining"),
    ("nvgpu-warp-specialization", "assign-latencies", "loads of the producer warp are not pipelined"),
    ("assign-latencies", "schedule-loops", "stages are assigned from latencies"),
    ("schedule-loops", "pipeline", "the schedule drives the expansion"),
    ("pipeline", "prefetch", "it prefetches from the buffers that pipelining fills"),
    ("coalesce", "licm", "conversions around accesses are hoisted"),
    ("combine-tensor-select-and-if", "nvgpu-warp-specialization", "selected accumulators can stay in flight"),
    ("nvgpu-warp-specialization", "sccp", "counters of circular buffers start with constants"),
    ("licm", "sccp", "hoisted values may be constant"),
    ("symbol-dce", "cse", "dead functions are not optimized"),
    ("hoist-waits", "allocate-shared-memory", "the live range of a buffer starts at the wait"),
    ("store-mma-rows-per-warp", "allocate-shared-memory", "a conversion within a warp needs no CTA-wide scratch"),
    ("store-in-own-cta", "allocate-shared-memory", "its conversions use shared memory"),
    ("allocate-warp-groups", "allocate-shared-memory", "partitions capture buffers"),
    ("allocate-shared-memory", "proxy-fence-insertion", "aliasing buffers have overlapping offsets"),
    ("proxy-fence-insertion", "insert-barriers", "a fence precedes the barrier that publishes the writes"),
    ("allocate-shared-memory", "insert-barriers", "hazards are between allocations that overlap"),
]

LATER = {
    "to-clc": "first, for work stealing with cluster launch control; lower-clc at the end",
    "optimize-tmem-layouts": "after to-clc, with the other tensor memory passes; for Blackwell",
    "mma-lowering": "after fence-insertion: lowers the dots of Hopper and Blackwell to instructions",
    "hoist-mbarrier-lifecycle": "after mma-lowering: initializes mbarriers once",
}
"""Passes of Triton 3.9's order that are not implemented: name -> position and purpose."""


def _software_pipelining(num_stages: int) -> list[Pass]:
    """Software pipelining; since Ampere."""
    stages = {"num_stages": num_stages}
    return [
        _pipeline("assign-latencies", "Assign pipeline latencies to loads", stages, when=_has_dots_or_stages),
        _pipeline("schedule-loops", "Assign a stage and a cluster to each op", when=_has_latencies),
        _pipeline("pipeline", "Expand loops into prologue and steady state", stages, when=_has_schedule),
    ]


def nvidia_ttgir_pipeline(gpu: NvidiaGPU, num_stages: int = 3) -> list[Pass]:
    """The passes from initial layouts to `ttgir` for a GPU.

    `num_stages`: the number of stages of loops that do not state it.
    """
    precision = _mma(
        "f32-dot-tc",
        "Split f32 dots according to their input precision",
        {"emu_tf32": gpu.has(MMA_SYNC)},
        when=has_any("tt.dot"),
    )
    loops = _LOOPS if gpu.has(ASYNC_COPY) else _LOOPS_WITHOUT_ASYNC_COPIES
    warp_specialization = _warp_specialize(
        "nvgpu-warp-specialization",
        "Split a loop into producer and consumer partitions",
        {"num_stages": num_stages},
        when=_has_warp_specialize,
    )
    accumulator_init = _mma(
        "optimize-accumulator-init",
        "Use useAcc = false instead of zero-initializing accumulators",
        when=has_any("ttng.warp_group_dot"),
    )
    if gpu.has(ASYNC_COPY):  # without support, the pass warns
        loops = [
            *loops,
            warp_specialization,
            *([accumulator_init] if gpu.has(WGMMA) else []),
            *_software_pipelining(num_stages),
        ]
    prefetch = _PREFETCH if gpu.has(ASYNC_COPY) and not gpu.has(TMA) else []
    descriptors, tma = (_DESCRIPTORS, _TMA) if gpu.has(TMA) else ([], [])
    dots = [*_DOTS, *descriptors, *_OPERANDS]
    return [*_ACCESSES, precision, *_LAYOUTS, *dots, *loops, *_CLEANUP, *prefetch, *_AFTER_PIPELINING, *tma, *_TAIL]


for _capability in (75, 80, 90, 100):
    check_order([*nvidia_ttgir_pipeline(nvidia_gpu(_capability)), *LOWERING], ORDER)
