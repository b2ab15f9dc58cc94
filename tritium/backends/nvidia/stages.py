"""The NVIDIA stages: `ttir` for now."""

from __future__ import annotations

from typing import Any

from ...ir import Pass, check_order
from ...ir.passes import run_pipeline
from ...ir.verifier import verify
from ...transforms.canonicalize import canonicalize
from ...transforms.combine import combine
from ...transforms.cse import cse
from ...transforms.inliner import inline
from ...transforms.loop_unroll import loop_unroll
from ...transforms.reorder_broadcast import reorder_broadcast
from ...transforms.rewrite_tensor_descriptor_to_pointer import rewrite_tensor_descriptor_to_pointer
from ...transforms.rewrite_tensor_pointer import rewrite_tensor_pointer
from ...transforms.symbol_dce import symbol_dce
from .options import CUDAOptions
from .target import CUDATarget

__all__ = ["ORDER", "PIPELINES", "make_ttir", "ttir_pipeline"]

_INLINER = Pass("inliner", inline, "one function a kernel: the passes below look no further than a function")
_BLOCK_POINTERS = Pass("rewrite-tensor-pointer", rewrite_tensor_pointer, "no hardware reads block pointers")
_DESCRIPTORS = Pass(
    "rewrite-tensor-descriptor-to-pointer",
    rewrite_tensor_descriptor_to_pointer,
    "before Hopper no hardware reads descriptors",
)
_REST = [
    Pass("canonicalize", canonicalize, "constants, shapes and control flow in normal form"),
    Pass("combine", combine, "accumulate in the matrix product, offsets and masks in one operation"),
    Pass("reorder-broadcast", reorder_broadcast, "arithmetic before it is repeated over a tile, not after"),
    Pass("cse", cse, "each value computed once"),
    Pass("symbol-dce", symbol_dce, "functions that were inlined everywhere"),
    Pass("loop-unroll", loop_unroll, "as kernels ask for it"),
]

ORDER = [
    ("inliner", "symbol-dce", "only inlining makes functions dead"),
    ("inliner", "rewrite-tensor-pointer", "a callee may take or return block pointers"),
    ("inliner", "rewrite-tensor-descriptor-to-pointer", "a callee may take or return descriptors"),
    ("rewrite-tensor-pointer", "combine", "masked loads are what it combines"),
    ("rewrite-tensor-descriptor-to-pointer", "combine", "masked loads are what it combines"),
    ("reorder-broadcast", "cse", "it makes equal scalar operations of equal tiles"),
]


def ttir_pipeline(target: CUDATarget) -> list[Pass]:
    """The passes from the frontend's module to `ttir`. Loop-invariant code is moved later, with layouts in view."""
    rewrites = [_BLOCK_POINTERS] if target.has_descriptors else [_BLOCK_POINTERS, _DESCRIPTORS]
    return [_INLINER, *rewrites, *_REST]


PIPELINES = {f"cuda:{capability}": ttir_pipeline(CUDATarget(capability)) for capability in (80, 90)}
"""The passes for a target of each kind, to look at."""

for _pipeline in PIPELINES.values():
    check_order(_pipeline, ORDER)


def make_ttir(module: Any, metadata: dict[str, Any], options: CUDAOptions) -> Any:
    """The module after the passes of `ttir_pipeline`."""
    run_pipeline(module, ttir_pipeline(options.target), stage="ttir", verifier=verify)
    return module
