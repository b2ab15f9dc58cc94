"""The passes of the `ttir` stage: what every target does to a tile program before it chooses its own form."""

from __future__ import annotations

from ..ir import Operation, Pass, check_order, shape_of
from ..ir.passes import has_any, has_loops, rows_from
from .padding.shapes import has_uneven_descriptors, has_uneven_shapes

__all__ = ["CPU_PIPELINE", "ORDER", "TTIR_PIPELINE", "gpu_ttir_pipeline"]

_row = rows_from(__package__)


def has_many_dimensions(module: Operation) -> bool:
    """For `when` of a row: a tile has more than two dimensions (two are commonly rows and columns of addresses)."""
    return any(len(shape_of(r.type)) > 2 for op in module.walk() for r in op.results)


TTIR_PIPELINE = [  # order matters: see ORDER
    _row("inliner", "one function a kernel: the passes below look no further than a function", when=has_any("tt.call")),
    _row("symbol-dce", "functions that were inlined everywhere are not worth optimizing"),
    _row(
        "rewrite-tensor-pointer",
        "block pointers are pointers and masks on these targets",
        when=has_any("tt.make_tensor_ptr", argument="!tt.ptr<tensor<"),
    ),
    _row(
        "rewrite-tensor-descriptor-to-pointer",
        "descriptors too, where no hardware reads them",
        when=has_any("tt.make_tensor_descriptor", argument="!tt.tensordesc<"),
    ),
    _row("pad-shapes", "all that follows takes powers of two", when=has_uneven_shapes),
    _row("decompose-scaled-dot", "and scaled products, where no hardware has them", when=has_any("tt.dot_scaled")),
    _row("canonicalize", "constants, shapes and control flow in normal form"),
    _row("combine", "accumulate in the matrix product, offsets and masks in one operation"),
    _row("reorder-broadcast", "arithmetic before it is repeated over a tile, not after"),
    _row("loop-aware-cse", "each value computed once, and carried once by a loop"),
    _row("licm", "and once for all iterations of a loop", when=has_loops),
    _row("loop-unroll", "as kernels ask for it", when=has_any("scf.for")),
    _row("cse", "what left its loop may stand there already"),
    _row("canonicalize", "what the passes above made, in normal form"),
    _row("dce", "what nothing uses"),
]

ORDER = [
    ("inliner", "symbol-dce", "only inlining makes functions dead"),
    ("inliner", "rewrite-tensor-pointer", "a callee may take or return block pointers"),
    ("rewrite-tensor-pointer", "combine", "masked loads are what it combines"),
    ("rewrite-tensor-pointer", "reorder-broadcast", "it makes splats"),
    ("rewrite-tensor-descriptor-to-pointer", "combine", "masked loads are what it combines"),
    ("rewrite-tensor-pointer", "pad-shapes", "pointers to tiles have no mask"),
    ("rewrite-tensor-descriptor-to-pointer", "pad-shapes", "nor have descriptors"),
    ("inliner", "decompose-scaled-dot", "a function of its own may hold the product"),
    ("decompose-scaled-dot", "combine", "matrix products are what it combines"),
    ("reorder-broadcast", "loop-aware-cse", "it makes equal scalar operations of equal tiles"),
    ("loop-aware-cse", "licm", "what is merged moves once"),
    ("licm", "loop-unroll", "copies of what is invariant would only be merged again"),
]

check_order(TTIR_PIPELINE, ORDER)

CPU_PIPELINE = [
    _row("collapse-dims", "one loop for dimensions that no operation tells apart", when=has_many_dimensions),
]
"""What CPUs do to `ttir` before tiles become loops; GPUs move elements by their layouts, however many dimensions."""


_UNEVEN_DESCRIPTORS = _row(
    "rewrite-tensor-descriptor-to-pointer",
    "descriptors of blocks that no hardware reads",
    {"uneven": True},
    when=has_uneven_descriptors,
)


def gpu_ttir_pipeline(descriptors: bool, invariants: bool = False) -> list[Pass]:
    """The passes from the frontend's module to `ttir` for a GPU, whose hardware reads `descriptors` or not.

    Most leave it to later stages, which see layouts, to move what is invariant out of loops; `invariants` asks for it
    here.
    """
    named = {p.name: p for p in TTIR_PIPELINE}
    # Functions that were inlined go at once: a chain of them would be optimized once a link (Triton drops them late).
    names = ["inliner", "symbol-dce", "rewrite-tensor-pointer", "rewrite-tensor-descriptor-to-pointer"]
    if descriptors:
        named["rewrite-tensor-descriptor-to-pointer"] = _UNEVEN_DESCRIPTORS
    names += ["pad-shapes", "canonicalize", "combine", "reorder-broadcast", "cse"]
    names += ["licm"] if invariants else []
    return [named[name] for name in (*names, "loop-unroll")]


for _descriptors in (False, True):
    check_order(gpu_ttir_pipeline(_descriptors, True), ORDER)
