"""The passes from Gluon's frontend to `ttgir`: the choice of layouts that are left open, and simplification.

None changes a layout, a buffer or the order of memory accesses that the kernel states.
"""

from __future__ import annotations

from ...ir import IfLike
from ...ir.passes import has_any, has_interface, rows_from

__all__ = ["PIPELINE", "PIPELINE_FOR_AMD", "PIPELINE_WITH_HOST_MAPS", "PIPELINE_WITH_TMA", "TO_TILES"]

_gluon = rows_from(__package__)
_general = rows_from(__package__.rpartition(".")[0])
_pipeline, _tma = (rows_from(f"{__package__.rpartition('.')[0]}.ttgir.{name}") for name in ("pipeline", "tma"))

_KEEP_LAYOUTS = {"keep_layouts": True}


_CHOICE = [
    _general("inliner", "Functions see the layouts of their callers", when=has_any("tt.call")),
    _gluon("infer-coalesced-encodings", "Choose the layouts of accesses in CoalescedLayout"),
    _gluon("resolve-auto-encodings", "Choose layouts that follow from others"),
]
_ACCESSES = [f"tt.descriptor_{name}" for name in ("load", "store", "gather", "scatter", "reduce")]
_DESCRIPTORS = [
    _tma("tma-lowering", "Lower descriptors made on the device", when=has_any("tt.make_tensor_descriptor", *_ACCESSES))
]
_HOST_MAPS = [
    _general(
        "host-tensor-maps", "Descriptors that are functions of the arguments", when=has_any("tt.make_tensor_descriptor")
    )
]
_CLEANUP = [
    _general("canonicalize", "Simplify", _KEEP_LAYOUTS),
    _general("sccp", "Propagate constants"),
    _general("loop-aware-cse", "Eliminate common subexpressions"),
    _general("canonicalize", "Simplify what that exposes", _KEEP_LAYOUTS),
    _pipeline("combine-tensor-select-and-if", "Merge selects into branches", when=has_interface(IfLike)),
    _general("symbol-dce", "Drop functions that are never called"),
]

TO_TILES = [_gluon("lower-gluon-to-tiles", "Tile programs have no layouts")]
"""The passes from layouts to tile programs, for CPUs."""

_CLUSTERS = [
    _gluon(
        "order-mbarrier-lifetimes", "Other CTAs signal an mbarrier while it lives", when=has_any("ttng.init_barrier")
    )
]

PIPELINE = [*_CHOICE, *_CLEANUP]
"""The passes for a GPU without TMA."""

PIPELINE_FOR_AMD = [
    *_CHOICE,
    _gluon(
        "decompose-scaled-upcasts",
        "There are no instructions for them before gfx950",
        when=has_any("amdg.scaled_upcast_fp4", "amdg.scaled_upcast_fp8"),
    ),
    *_CLEANUP,
]
"""The passes for AMD GPUs with code generation."""

PIPELINE_WITH_TMA = [*_CHOICE, *_DESCRIPTORS, *_CLEANUP, *_CLUSTERS]
"""The passes since Hopper."""

PIPELINE_WITH_HOST_MAPS = [*_CHOICE, *_HOST_MAPS, *_DESCRIPTORS, *_CLEANUP, *_CLUSTERS]
"""The same for a launcher that encodes the maps of descriptors."""
