"""The pass pipelines of the `ttgir` stage for AMD GPUs.

`ttgir_pipeline(options)` goes from `ttir` to `ttgir` in the order of Triton 3.9's AMD backend; `LOWERING` precedes the
conversion to LLVM IR. `LATER` lists the passes of that order that are not implemented.
"""

from __future__ import annotations

from ...conversion.convert_triton_to_tritongpu import ConvertOptions, convert_triton_to_tritongpu
from ...dialects import tt
from ...dialects.ttg_layouts import AmdMfma
from ...ir import IfLike, LoopLike, Operation, Pass, TensorType, check_order, functions_of, is_tensor_dot
from ...ir.passes import has_any, has_interface, rows_from
from ...transforms import ttgir
from .options import HIPOptions
from .target import HIPTarget

__all__ = ["LATER", "LOWERING", "ORDER", "amd_ttgir_pipeline", "default_ttgir_pipeline", "ttgir_pipeline"]

_general = rows_from("tritium.transforms")
_layout, _memory, _mma, _pipeline = (
    rows_from(f"{ttgir.__name__}.{package}") for package in ("layout", "memory", "mma", "pipeline")
)


def _flattens(module: Operation) -> bool:
    """Whether a loop requests to be fused with the loop nested in it."""
    return any("tt.flatten" in op.attributes or "ttg.always-fuse" in op.attributes for op in module.walk())


def _has_dots_or_stages(module: Operation) -> bool:
    """Whether there are dots, or loops with a requested number of stages."""
    return any(is_tensor_dot(op) or "tt.num_stages" in op.attributes for op in module.walk())


def _has_latencies(module: Operation) -> bool:
    """Whether an operation has a latency, or a loop a schedule."""
    return any("tt.latency" in op.attributes or "tt.scheduled_max_stage" in op.attributes for op in module.walk())


def _has_schedule(module: Operation) -> bool:
    """Whether a loop has a schedule."""
    return any("tt.scheduled_max_stage" in op.attributes for op in module.walk())


def _has_mfma(module: Operation) -> bool:
    """Whether there are dots by MFMA."""
    dots = [op.d.type for op in module.walk() if isinstance(op, tt.Dot)]
    return any(isinstance(ty, TensorType) and isinstance(ty.encoding, AmdMfma) for ty in dots)


def _has_small_arrays(module: Operation) -> bool:
    """Whether a function states that one of its arguments points to an array below 2 GB."""
    return any("tt.pointer_range" in str(f.attributes.get("arg_attrs", "")) for f in functions_of(module))


LOWERING = [
    _pipeline("combine-tensor-select-and-if", "Merge selects into branches", when=has_interface(IfLike)),
    _memory("allocate-shared-memory", "Allocate LDS for buffers and scratch"),
    _memory("insert-barriers", "Insert workgroup barriers for LDS hazards"),
    _memory("allocate-global-scratch", "Allocate global scratch memory", when=has_any("ttg.global_scratch_alloc")),
]
"""The passes between `ttgir` and the conversion to LLVM IR."""

ORDER = [
    ("coalesce", "remove-layout-conversions", "it inserts conversions around accesses"),
    ("coalesce", "licm", "conversions around accesses are hoisted"),
    ("f32-dot-tc", "amd-accelerate-matmul", "it emits dots that matrix instructions exist for"),
    ("remove-layout-conversions", "amd-accelerate-matmul", "it inspects the operands of dots"),
    ("optimize-thread-locality", "amd-accelerate-matmul", "it skips reductions of dot results"),
    ("amd-accelerate-matmul", "optimize-dot-operands", "it chooses the layouts of operands"),
    ("amd-accelerate-matmul", "amd-in-thread-transpose", "it chooses the layouts of operands"),
    ("amd-in-thread-transpose", "amd-pipeline", "buffers follow the layouts of loads"),
    ("amd-accelerate-matmul", "amd-optimize-epilogue", "it removes conversions of dot results"),
    ("fuse-nested-loops", "licm", "operations of the outer loop may be invariant in the fused one"),
    ("remove-layout-conversions", "reduce-data-duplication", "it expands conversions that can no longer be removed"),
    ("reduce-data-duplication", "reorder-instructions", "its buffers are reordered as well"),
    ("licm", "assign-latencies", "invariant loads need no pipelining"),
    ("assign-latencies", "schedule-loops", "stages are assigned from latencies"),
    ("schedule-loops", "amd-pipeline", "the schedule drives the expansion"),
    ("amd-pipeline", "reduce-data-duplication", "operands that are not pipelined go through LDS as well"),
    ("reorder-instructions", "amd-block-pingpong", "the order of operations within clusters is kept"),
    ("amd-block-pingpong", "amd-convert-to-buffer-ops", "it moves tt.load"),
    ("amd-convert-to-buffer-ops", "amd-optimize-buffer-op-ptr", "it makes the buffer operations"),
    ("symbol-dce", "cse", "dead functions are not optimized"),
    ("allocate-shared-memory", "insert-barriers", "hazards are between allocations that overlap"),
]

LATER = {
    "optimize-descriptor-encoding": "before assign-latencies, with convert-to-tensor-ops: TDM of gfx1250",
    "move-up-prologue-loads": "after reduce-data-duplication: issues the first loads of a loop earlier",
}
"""Passes of Triton 3.9's order that are not run: name -> position and purpose."""


def amd_ttgir_pipeline(options: HIPOptions) -> list[Pass]:
    """The passes from initial layouts to `ttgir` for these options."""
    stages = {"num_stages": options.num_stages}
    return [
        _layout("coalesce", "Coalesce global memory accesses"),
        _mma("f32-dot-tc", "Split f32 dots according to their input precision", {"emu_tf32": False}, has_any("tt.dot")),
        _layout("remove-layout-conversions", "Give producers the layouts of their accesses"),
        _layout(
            "optimize-thread-locality",
            "Reduce within threads before the cross-lane reduction",
            when=has_any("tt.reshape", "tt.gather", "tt.reduce"),
        ),
        _mma(
            "amd-accelerate-matmul",
            "Select MFMA or WMMA instructions and convert tt.dot to their layouts",
            {"matrix_instruction_size": options.matrix_instr_nonkdim, "kPack": options.kpack},
            when=has_any("tt.dot"),
        ),
        _layout("amd-in-thread-transpose", "Load operands so that LDS can have K contiguous", when=has_any("tt.dot")),
        _layout("remove-layout-conversions", "Keep dot results in the layouts of matrix instructions"),
        _layout("amd-optimize-epilogue", "Store dot results without a conversion through LDS", when=has_any("tt.dot")),
        _mma("optimize-dot-operands", "Fold transposes into local_load"),
        _layout(
            "amd-hoist-layout-conversions",
            "Convert invariant operands of dots before the loop",
            when=has_any("tt.dot"),
        ),
        _layout("amd-sink-layout-conversions", "Convert layouts after LDS is freed", when=has_any("ttg.local_dealloc")),
        _pipeline("fuse-nested-loops", "Fuse loop nests that request it", when=_flattens),
        _general("canonicalize", "Bring loops into canonical form before hoisting"),
        _general("licm", "Hoist loop-invariant layout conversions", when=has_interface(LoopLike)),
        _general("canonicalize", "Simplify hoisted operations"),
        _pipeline("assign-latencies", "Assign pipeline latencies to loads", stages, when=_has_dots_or_stages),
        _pipeline("schedule-loops", "Assign a stage and a cluster to each op", when=_has_latencies),
        _pipeline("amd-pipeline", "Prefetch global loads into registers", when=_has_schedule),
        _general("canonicalize", "Simplify prologues"),
        _layout("remove-layout-conversions", "Remove conversions between the layouts chosen above"),
        _general("symbol-dce", "Drop functions that are never called"),
        _general("cse", "Convert a value for two loops once", when=has_any("ttg.convert_layout")),
        _mma(
            "reduce-data-duplication",
            "Stage replicated dot operands through LDS",
            when=has_any("ttg.convert_layout"),
        ),
        _memory("reorder-instructions", "Reorder operations to reduce register pressure"),
        *(
            [
                _pipeline(
                    "amd-block-pingpong", "Alternate loads and matrix instructions of two waves", stages, when=_has_mfma
                )
            ]
            if options.uses_block_pingpong
            else []
        ),
        _memory(
            "amd-convert-to-buffer-ops",
            "Access arrays below 2 GB by buffer instructions",
            {"allow_buffer_atomics": False},
            when=_has_small_arrays,
        ),
        _memory(
            "amd-optimize-buffer-op-ptr",
            "Advance the bases of buffers instead of offsets",
            when=has_any("amdg.buffer_load", "amdg.buffer_store"),
        ),
        _memory("amd-fold-true-cmpi", "Drop masks that are always true", when=has_any("arith.cmpi")),
        _pipeline("amd-prepare-if-combining", "Make branches of one condition adjacent", when=has_interface(IfLike)),
        _general("canonicalize", "Drop pointers that loops carried"),
        _general("sccp", "Propagate constants"),
        _general("cse", "Eliminate common subexpressions"),
        _general("canonicalize", "Canonicalize for lowering"),
    ]


def ttgir_pipeline(options: HIPOptions) -> list[Pass]:
    """All passes from `ttir` to `ttgir` for these options."""
    target = options.target
    machine = ConvertOptions(f"hip:{target.arch}", options.num_warps, target.warp_size, options.num_ctas)
    return [
        _general(
            "rewrite-tensor-descriptor-to-pointer",
            "descriptors of texts that start at ttir",
            when=has_any("tt.make_tensor_descriptor", argument="!tt.tensordesc<"),
        ),
        _general(
            "decompose-scaled-dot",
            "no later pass supports scaled dots yet",
            {"tensor_cores": True},
            when=has_any("tt.dot_scaled"),
        ),
        Pass("convert-triton-to-tritongpu", convert_triton_to_tritongpu, "a plain layout for every tensor", machine),
        *amd_ttgir_pipeline(options),
    ]


def default_ttgir_pipeline(arch: str) -> list[Pass]:
    """The same for the options that hold where none are given."""
    return ttgir_pipeline(HIPOptions.parse({}, HIPTarget(arch)))


for _arch in ("gfx942", "gfx1100"):
    check_order([*amd_ttgir_pipeline(HIPOptions(arch=_arch)), *LOWERING], ORDER)
