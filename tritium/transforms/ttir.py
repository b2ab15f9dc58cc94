"""The passes of the `ttir` stage: what every target does to a tile program before it chooses its own form."""

from __future__ import annotations

from ..ir import Pass, check_order
from .canonicalize import canonicalize
from .combine import combine
from .cse import cse
from .dce import dce
from .decompose_scaled_dot import decompose_scaled_dot
from .inliner import inline
from .licm import licm
from .loop_aware_cse import loop_aware_cse
from .loop_unroll import loop_unroll
from .reorder_broadcast import reorder_broadcast
from .rewrite_tensor_descriptor_to_pointer import rewrite_tensor_descriptor_to_pointer
from .rewrite_tensor_pointer import rewrite_tensor_pointer
from .symbol_dce import symbol_dce

__all__ = ["ORDER", "TTIR_PIPELINE", "gpu_ttir_pipeline"]

TTIR_PIPELINE = [  # order matters: see ORDER
    Pass("inliner", inline, "one function a kernel: the passes below look no further than a function"),
    Pass("symbol-dce", symbol_dce, "functions that were inlined everywhere are not worth optimizing"),
    Pass("rewrite-tensor-pointer", rewrite_tensor_pointer, "block pointers are pointers and masks on these targets"),
    Pass(
        "rewrite-tensor-descriptor-to-pointer",
        rewrite_tensor_descriptor_to_pointer,
        "descriptors too, where no hardware reads them",
    ),
    Pass("decompose-scaled-dot", decompose_scaled_dot, "and scaled products, where no hardware has them"),
    Pass("canonicalize", canonicalize, "constants, shapes and control flow in normal form"),
    Pass("combine", combine, "accumulate in the matrix product, offsets and masks in one operation"),
    Pass("reorder-broadcast", reorder_broadcast, "arithmetic before it is repeated over a tile, not after"),
    Pass("loop-aware-cse", loop_aware_cse, "each value computed once, and carried once by a loop"),
    Pass("licm", licm, "and once for all iterations of a loop"),
    Pass("loop-unroll", loop_unroll, "as kernels ask for it"),
    Pass("cse", cse, "what left its loop may stand there already"),
    Pass("canonicalize", canonicalize, "what the passes above made, in normal form"),
    Pass("dce", dce, "what nothing uses"),
]

ORDER = [
    ("inliner", "symbol-dce", "only inlining makes functions dead"),
    ("inliner", "rewrite-tensor-pointer", "a callee may take or return block pointers"),
    ("rewrite-tensor-pointer", "combine", "masked loads are what it combines"),
    ("rewrite-tensor-pointer", "reorder-broadcast", "it makes splats"),
    ("rewrite-tensor-descriptor-to-pointer", "combine", "masked loads are what it combines"),
    ("inliner", "decompose-scaled-dot", "a function of its own may hold the product"),
    ("decompose-scaled-dot", "combine", "matrix products are what it combines"),
    ("reorder-broadcast", "loop-aware-cse", "it makes equal scalar operations of equal tiles"),
    ("loop-aware-cse", "licm", "what is merged moves once"),
    ("licm", "loop-unroll", "copies of what is invariant would only be merged again"),
]

check_order(TTIR_PIPELINE, ORDER)


def gpu_ttir_pipeline(descriptors: bool, invariants: bool = False) -> list[Pass]:
    """The passes from the frontend's module to `ttir` for a GPU, whose hardware reads `descriptors` or not.

    Most leave it to later stages, which see layouts, to move what is invariant out of loops; `invariants` asks for it
    here.
    """
    named = {p.name: p for p in TTIR_PIPELINE}
    # Functions that were inlined go at once: a chain of them would be optimized once a link (Triton drops them late).
    names = ["inliner", "symbol-dce", "rewrite-tensor-pointer"]
    names += [] if descriptors else ["rewrite-tensor-descriptor-to-pointer"]
    names += ["canonicalize", "combine", "reorder-broadcast", "cse"]
    names += ["licm"] if invariants else []
    return [named[name] for name in (*names, "loop-unroll")]


for _descriptors in (False, True):
    check_order(gpu_ttir_pipeline(_descriptors, True), ORDER)
