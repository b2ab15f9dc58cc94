"""The passes of the `ttgir` stage for each generation of NVIDIA GPUs, from first layouts to what is lowered.

The stage begins with `convert-triton-to-tritongpu`, which gives every tensor a plain layout; it stands in the room of
conversions, and its options are the target's, so the table starts behind it. `nvidia_ttgir_pipeline(capability)` is
the list for a GPU; `LATER` says which passes of Triton's order have no row yet, and where they will stand.
"""

from __future__ import annotations

from ...ir import Pass, check_order
from ..canonicalize import canonicalize
from ..cse import cse
from ..licm import licm
from ..loop_aware_cse import loop_aware_cse
from ..sccp import sccp
from ..symbol_dce import symbol_dce
from .accelerate_matmul import accelerate_matmul
from .allocate_global_scratch import allocate_global_scratch
from .allocate_shared_memory import allocate_shared_memory
from .assign_cga_layouts import assign_cga_layouts
from .coalesce import coalesce
from .combine_tensor_select_and_if import combine_tensor_select_and_if
from .f32_dot_tc import DotOptions, f32_dot_tc
from .insert_barriers import insert_barriers
from .optimize_cta_locality import optimize_cta_locality
from .optimize_dot_operands import optimize_dot_operands
from .optimize_thread_locality import optimize_thread_locality
from .prefetch import prefetch
from .reduce_data_duplication import reduce_data_duplication
from .remove_layout_conversions import remove_layout_conversions
from .reorder_instructions import reorder_instructions

__all__ = ["LATER", "LOWERING", "ORDER", "nvidia_ttgir_pipeline"]

_ACCESSES = [  # order matters: see ORDER
    Pass("coalesce", coalesce, "every access to global memory takes its widest vector"),
]
"""Accesses to global memory, for all generations."""

_LAYOUTS = [
    Pass("assign-cga-layouts", assign_cga_layouts, "blocks of a cluster work on parts of their own"),
    Pass("remove-layout-conversions", remove_layout_conversions, "what leads to accesses has their layouts"),
    Pass("optimize-cta-locality", optimize_cta_locality, "blocks compute what they need, rather than ask others"),
    Pass("remove-layout-conversions", remove_layout_conversions, "and what is in front of that"),
]
"""Which thread holds what, for all generations."""

_PRODUCTS = [
    Pass("optimize-thread-locality", optimize_thread_locality, "threads combine what they have before they talk"),
    Pass("accelerate-matmul", accelerate_matmul, "products by the instructions that the GPU has for them"),
    Pass("remove-layout-conversions", remove_layout_conversions, "results of products stay where products leave them"),
    Pass("optimize-dot-operands", optimize_dot_operands, "operands are turned where they are read from shared memory"),
    Pass("loop-aware-cse", loop_aware_cse, "operands of several products are made once"),
]
"""Matrix products, for all generations."""

_LOOPS = [
    Pass("canonicalize", canonicalize, "loops in normal form, for what moves out of them"),
    Pass("licm", licm, "conversions that do not change in a loop are made once"),
    Pass("canonicalize", canonicalize, "what moved may be known there"),
    Pass("combine-tensor-select-and-if", combine_tensor_select_and_if, "branches choose tensors, not selects"),
]
"""Loops, before they are pipelined; since Ampere."""

_OLD_LOOPS = [Pass("licm", licm, "conversions that do not change in a loop are made once")]
"""Loops of GPUs without asynchronous copies."""

_CLEAN = [
    Pass("canonicalize", canonicalize, "what the loops' passes left"),
    Pass("loop-aware-cse", loop_aware_cse, "equal conversions are one, before copies are made of them"),
]
"""What the passes above leave, in normal form."""

_PREFETCH = [Pass("prefetch", prefetch, "operands of the next step are read while this one multiplies")]
"""Products of Ampere and Ada, whose operands come from registers."""

_TAIL = [
    Pass("optimize-dot-operands", optimize_dot_operands, "again, for what left its loop"),
    Pass("remove-layout-conversions", remove_layout_conversions, "between what all passes above have chosen"),
    Pass("reduce-data-duplication", reduce_data_duplication, "operands that warps share are in shared memory"),
    Pass("reorder-instructions", reorder_instructions, "few registers in use at a time"),
    Pass("loop-aware-cse", loop_aware_cse, "each value once, in the layouts it now has"),
    Pass("symbol-dce", symbol_dce, "functions that nothing calls are not lowered"),
    Pass("sccp", sccp, "what the passes above made constant"),
    Pass("cse", cse, "and equal"),
    Pass("canonicalize", canonicalize, "lowering meets the normal form only"),
]
"""What is done at the end, for all generations."""

LOWERING = [
    Pass("allocate-shared-memory", allocate_shared_memory, "places for buffers and for what operations need inside"),
    Pass("insert-barriers", insert_barriers, "whoever shares a place waits for the others"),
    Pass("allocate-global-scratch", allocate_global_scratch, "places for what a program keeps in global memory"),
]
"""What is done behind `ttgir`, before tensors become what one thread does; for all generations."""

ORDER = [
    ("f32-dot-tc", "assign-cga-layouts", "its products are divided, too"),
    ("assign-cga-layouts", "remove-layout-conversions", "it leaves conversions around what it divides"),
    ("coalesce", "remove-layout-conversions", "it inserts the conversions around accesses"),
    ("f32-dot-tc", "accelerate-matmul", "it makes the products that there are instructions for"),
    ("remove-layout-conversions", "accelerate-matmul", "it looks at what operands are made of"),
    ("accelerate-matmul", "optimize-dot-operands", "it chooses the layouts of operands"),
    ("optimize-thread-locality", "accelerate-matmul", "it looks for reductions that are not of products"),
    ("remove-layout-conversions", "reduce-data-duplication", "what it writes out no pass takes back"),
    ("reduce-data-duplication", "reorder-instructions", "its buffers are what there is to order"),
    ("coalesce", "licm", "conversions around accesses are what there is to move"),
    ("licm", "sccp", "what left its loop may be known there"),
    ("symbol-dce", "cse", "functions that go need not be looked at"),
    ("allocate-shared-memory", "insert-barriers", "who must wait follows from the places"),
]

LATER = {
    "fuse-nested-loops": "before the loops' first canonicalize: one loop of two, where `flatten` asks for it",
    "to-clc": "first, where a kernel takes work of others; lower-clc at the end",
    "optimize-descriptor-encoding": "behind optimize-dot-operands: how tiles of descriptors lie in shared memory",
    "nvgpu-warp-specialization": "behind combine-tensor-select-and-if: warps that load, warps that compute",
    "assign-latencies": "behind it: how long loads take",
    "schedule-loops": "behind it: which iteration does what",
    "pipeline": "behind it: loads of later iterations while this one computes",
    "coalesce-async-copy": "behind the second optimize-dot-operands: asynchronous copies of whole vectors",
    "optimize-tmem-layouts": "behind it; with the other passes of tensor memory, for Blackwell",
    "tma-lowering": "before the last remove-layout-conversions: descriptors as instructions of the copy engine",
    "fence-insertion": "behind symbol-dce: writes that the copy engine and wgmma must see",
    "mma-lowering": "behind it: products of Hopper and Blackwell as instructions",
    "hoist-mbarrier-lifecycle": "behind it: barriers made once",
}
"""Passes of Triton 3.9's order that are not there yet: name -> its place and what it is for."""


def nvidia_ttgir_pipeline(capability: int) -> list[Pass]:
    """The passes from first layouts to `ttgir` for a GPU of compute capability `capability` / 10."""
    precision = Pass(
        "f32-dot-tc", f32_dot_tc, "products of floats in the precision asked for", DotOptions(emu_tf32=capability >= 80)
    )
    loops = _LOOPS if capability >= 80 else _OLD_LOOPS
    ahead = _PREFETCH if 80 <= capability < 90 else []
    return [*_ACCESSES, precision, *_LAYOUTS, *_PRODUCTS, *loops, *_CLEAN, *ahead, *_TAIL]


for _capability in (75, 80, 90, 100):
    check_order([*nvidia_ttgir_pipeline(_capability), *LOWERING], ORDER)
