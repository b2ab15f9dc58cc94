"""The passes of the `ttgir` stage for each generation of NVIDIA GPUs, from first layouts to what is lowered.

The stage begins with `convert-triton-to-tritongpu`, which gives every tensor a plain layout; it stands in the room of
conversions, and its options are the target's, so the table starts behind it. `nvidia_ttgir_pipeline(capability)` is
the list for a GPU; `LATER` says which passes of Triton's order have no row yet, and where they will stand.
"""

from __future__ import annotations

from ...dialects.ttg_context import num_ctas
from ...ir import Operation, Pass, check_order
from ...ir.passes import has_any, has_loops, rows_from
from . import PACKAGES

__all__ = ["LATER", "LOWERING", "ORDER", "nvidia_ttgir_pipeline"]

_async_wait, _layout, _memory, _mma, _pipeline, _tma, _warp_specialize = (
    rows_from(f"{__package__}.{package}") for package in PACKAGES
)
_general = rows_from(__package__.rpartition(".")[0])
"""Rows of the passes of each package, and of those for all dialects: a pass is imported when it runs."""


def _clusters(module: Operation) -> bool:
    """Whether several blocks of threads work on a program."""
    return num_ctas(module) > 1


def _asks_for_warps(module: Operation) -> bool:
    """Whether a loop asks for warps of its own for loads."""
    return any("tt.warp_specialize" in op.attributes for op in module.walk())


_ACCESSED = ("load", "store", "gather", "scatter", "reduce")
_has_descriptors = has_any("tt.make_tensor_descriptor", *(f"tt.descriptor_{name}" for name in _ACCESSED))
"""Whether the copy engine has work: descriptors that became pointers are none."""


def _flattens(module: Operation) -> bool:
    """Whether a loop asks to be one with the loop in it."""
    return any("tt.flatten" in op.attributes or "ttg.always-fuse" in op.attributes for op in module.walk())


def _products_or_stages(module: Operation) -> bool:
    """Whether there are products in loops, or loops that say how many iterations may overlap."""
    return any(op.name in _PRODUCT_NAMES or "tt.num_stages" in op.attributes for op in module.walk())


_PRODUCT_NAMES = frozenset(("tt.dot", "tt.dot_scaled", "ttng.warp_group_dot"))


def _has_latencies(module: Operation) -> bool:
    """Whether something is to be begun early, or was."""
    return any("tt.latency" in op.attributes or "tt.scheduled_max_stage" in op.attributes for op in module.walk())


def _has_schedule(module: Operation) -> bool:
    """Whether a loop has stages, or may go on while the last iteration's products and stores do."""
    return any("tt.scheduled_max_stage" in op.attributes or op.name in _ASYNC_OPS for op in module.walk())


_ASYNC_OPS = frozenset(("ttng.warp_group_dot", *(f"tt.descriptor_{name}" for name in ("store", "reduce", "scatter"))))


_ACCESSES = [  # order matters: see ORDER
    _layout("coalesce", "every access to global memory takes its widest vector"),
]
"""Accesses to global memory, for all generations."""

_LAYOUTS = [
    _layout("assign-cga-layouts", "blocks of a cluster work on parts of their own", when=_clusters),
    _layout("remove-layout-conversions", "what leads to accesses has their layouts"),
    _layout("optimize-cta-locality", "blocks compute what they need, rather than ask others", when=_clusters),
    _layout("remove-layout-conversions", "and what is in front of that"),
]
"""Which thread holds what, for all generations."""

_PRODUCTS = [
    _layout(
        "optimize-thread-locality",
        "threads combine what they have before they talk",
        when=has_any("tt.reshape", "tt.gather", "tt.reduce"),
    ),
    _mma(
        "accelerate-matmul",
        "products by the instructions that the GPU has for them",
        when=has_any("tt.dot", "tt.dot_scaled"),
    ),
    _layout("remove-layout-conversions", "results of products stay where products leave them"),
    _mma("optimize-dot-operands", "operands are turned where they are read from shared memory"),
]
"""Matrix products, for all generations."""

_DESCRIPTORS = [
    _tma(
        "optimize-descriptor-encoding",
        "tiles of descriptors lie in shared memory as their users read them",
        when=_has_descriptors,
    ),
]
"""What the copy engine must know of a tile; since Hopper."""

_OPERANDS = [_general("loop-aware-cse", "operands of several products are made once")]
"""Behind that, for all generations."""

_LOOPS = [
    _pipeline(
        "fuse-nested-loops", "one loop of two, where one says so: its iterations overlap throughout", when=_flattens
    ),
    _general("canonicalize", "loops in normal form, for what moves out of them"),
    _general("licm", "conversions that do not change in a loop are made once", when=has_loops),
    _general("canonicalize", "what moved may be known there"),
    _pipeline("combine-tensor-select-and-if", "branches choose tensors, not selects", when=has_any("scf.if")),
]
"""Loops, before they are pipelined; since Ampere."""

_OLD_LOOPS = [_general("licm", "conversions that do not change in a loop are made once", when=has_loops)]
"""Loops of GPUs without asynchronous copies."""

_CLEAN = [
    _general("canonicalize", "what the loops' passes left"),
    _general("loop-aware-cse", "equal conversions are one, before copies are made of them"),
]
"""What the passes above leave, in normal form."""

_PREFETCH = [_mma("prefetch", "operands of the next step are read while this one multiplies", when=has_any("tt.dot"))]
"""Products of Ampere and Ada, whose operands come from registers."""

_AGAIN = [
    _mma("optimize-dot-operands", "again, for what left its loop"),
    _layout(
        "coalesce-async-copy",
        "copies of whole vectors, whatever registers would want",
        when=has_any("ttg.async_copy_global_to_local"),
    ),
]
"""Products behind the pipeliner, for all generations."""

_COPIES = [
    _tma("tma-lowering", "descriptors as instructions of the copy engine", when=_has_descriptors),
]
"""Accesses by descriptor that wait for their data; since Hopper."""

_TAIL = [
    _layout("remove-layout-conversions", "between what all passes above have chosen"),
    _mma(
        "reduce-data-duplication", "operands that warps share are in shared memory", when=has_any("ttg.convert_layout")
    ),
    _memory("reorder-instructions", "few registers in use at a time"),
    _general("loop-aware-cse", "each value once, in the layouts it now has"),
    _general("symbol-dce", "functions that nothing calls are not lowered"),
    _async_wait(
        "fence-insertion", "products by warp groups see what threads have written", when=has_any("ttng.warp_group_dot")
    ),
    _general("sccp", "what the passes above made constant"),
    _general("cse", "and equal"),
    _general("canonicalize", "lowering meets the normal form only"),
]
"""What is done at the end, for all generations."""

LOWERING = [
    _layout(
        "store-mma-rows-per-warp",
        "warps store what they have of products",
        when=has_any("tt.dot", "ttng.warp_group_dot"),
    ),
    _pipeline(
        "combine-tensor-select-and-if",
        "branches choose tensors, also where pipelining made both",
        when=has_any("scf.if"),
    ),
    _memory("speculate-loads", "loads of branches that hang on memory begin before these", when=has_any("scf.if")),
    _async_wait(
        "hoist-waits",
        "copies are there before what is computed for the product that reads them",
        when=has_any("ttng.warp_group_dot"),
    ),
    _memory(
        "rematerialize-after-loops",
        "loops full of products carry little past them",
        when=has_any("tt.dot", "tt.dot_scaled", "ttng.warp_group_dot"),
    ),
    _layout("store-in-own-cta", "elements are where the memory is that holds them", when=_clusters),
    _warp_specialize(
        "allocate-warp-groups", "warps and registers for each partition", when=has_any("ttg.warp_specialize")
    ),
    _memory("allocate-shared-memory", "places for buffers and for what operations need inside"),
    _async_wait(
        "proxy-fence-insertion",
        "asynchronous units see what threads have written",
        when=has_any("ttng."),
    ),
    _memory("insert-barriers", "whoever shares a place waits for the others"),
    _memory(
        "allocate-global-scratch",
        "places for what a program keeps in global memory",
        when=has_any("ttg.global_scratch_alloc"),
    ),
]
"""What is done behind `ttgir`, before tensors become what one thread does; for all generations."""

ORDER = [
    ("f32-dot-tc", "assign-cga-layouts", "its products are divided, too"),
    ("assign-cga-layouts", "remove-layout-conversions", "it leaves conversions around what it divides"),
    ("coalesce", "remove-layout-conversions", "it inserts the conversions around accesses"),
    ("f32-dot-tc", "accelerate-matmul", "it makes the products that there are instructions for"),
    ("remove-layout-conversions", "accelerate-matmul", "it looks at what operands are made of"),
    ("accelerate-matmul", "optimize-dot-operands", "it chooses the layouts of operands"),
    ("accelerate-matmul", "optimize-descriptor-encoding", "products say how they want their operands in memory"),
    ("optimize-descriptor-encoding", "tma-lowering", "a descriptor in memory says which layout it has"),
    ("tma-lowering", "reorder-instructions", "buffers and barriers that it makes are among what there is to order"),
    ("optimize-thread-locality", "accelerate-matmul", "it looks for reductions that are not of products"),
    ("remove-layout-conversions", "reduce-data-duplication", "what it writes out no pass takes back"),
    ("reduce-data-duplication", "reorder-instructions", "its buffers are what there is to order"),
    ("reduce-data-duplication", "fence-insertion", "it looks at who writes the buffers that there are"),
    ("fuse-nested-loops", "optimize-accumulator-init", "loops that were two begin sums in the middle"),
    ("combine-tensor-select-and-if", "optimize-accumulator-init", "branches choose zeros there"),
    ("fuse-nested-loops", "licm", "what a tile's loop computes anew is known in front of the new loop"),
    ("licm", "assign-latencies", "what does not change in a loop is loaded once"),
    ("nvgpu-warp-specialization", "assign-latencies", "what warps of their own load is no load any more"),
    ("assign-latencies", "schedule-loops", "stages follow from latencies"),
    ("schedule-loops", "pipeline", "which iteration does what"),
    ("pipeline", "prefetch", "operands are read early from buffers that were filled early"),
    ("coalesce", "licm", "conversions around accesses are what there is to move"),
    ("combine-tensor-select-and-if", "nvgpu-warp-specialization", "a tensor that branches choose is in flight"),
    ("nvgpu-warp-specialization", "sccp", "counters of rings begin with constants"),
    ("licm", "sccp", "what left its loop may be known there"),
    ("symbol-dce", "cse", "functions that go need not be looked at"),
    ("hoist-waits", "allocate-shared-memory", "a buffer is in use from the wait for it on"),
    ("store-mma-rows-per-warp", "allocate-shared-memory", "what warps exchange among themselves takes other room"),
    ("store-in-own-cta", "allocate-shared-memory", "its conversions go through shared memory"),
    ("allocate-warp-groups", "allocate-shared-memory", "the partitions it adds capture what the others do"),
    ("allocate-shared-memory", "proxy-fence-insertion", "who uses the same bytes follows from the places"),
    ("proxy-fence-insertion", "insert-barriers", "each thread fences what it wrote before it meets the others"),
    ("allocate-shared-memory", "insert-barriers", "who must wait follows from the places"),
]

LATER = {
    "to-clc": "first, where a kernel takes work of others; lower-clc at the end",
    "optimize-tmem-layouts": "behind it; with the other passes of tensor memory, for Blackwell",
    "mma-lowering": "behind fence-insertion: products of Hopper and Blackwell as instructions",
    "hoist-mbarrier-lifecycle": "behind it: barriers made once",
}
"""Passes of Triton 3.9's order that are not there yet: name -> its place and what it is for."""


def _overlapped(num_stages: int) -> list[Pass]:
    """Iterations of loops that overlap; since Ampere."""
    stages = {"num_stages": num_stages}
    return [
        _pipeline("assign-latencies", "how long loads take", stages, when=_products_or_stages),
        _pipeline("schedule-loops", "which iteration does what", when=_has_latencies),
        _pipeline("pipeline", "loads of later iterations while this one computes", stages, when=_has_schedule),
    ]


def nvidia_ttgir_pipeline(capability: int, num_stages: int = 3) -> list[Pass]:
    """The passes from first layouts to `ttgir` for a GPU of compute capability `capability` / 10.

    `num_stages`: iterations that overlap in loops which do not say how many.
    """
    precision = _mma(
        "f32-dot-tc",
        "products of floats in the precision asked for",
        {"emu_tf32": capability >= 80},
        when=has_any("tt.dot"),
    )
    loops = _LOOPS if capability >= 80 else _OLD_LOOPS
    warps = _warp_specialize(
        "nvgpu-warp-specialization",
        "warps that load, warps that compute",
        {"num_stages": num_stages},
        when=_asks_for_warps,
    )
    sums = _mma(
        "optimize-accumulator-init",
        "sums that begin anew are not set to zero",
        when=has_any("ttng.warp_group_dot"),
    )
    if capability >= 80:  # where warps get no work of their own, the pass says so
        loops = [*loops, warps, *([sums] if 90 <= capability < 100 else []), *_overlapped(num_stages)]
    ahead = _PREFETCH if 80 <= capability < 90 else []
    described, copies = (_DESCRIPTORS, _COPIES) if capability >= 90 else ([], [])
    products = [*_PRODUCTS, *described, *_OPERANDS]
    return [*_ACCESSES, precision, *_LAYOUTS, *products, *loops, *_CLEAN, *ahead, *_AGAIN, *copies, *_TAIL]


for _capability in (75, 80, 90, 100):
    check_order([*nvidia_ttgir_pipeline(_capability), *LOWERING], ORDER)
