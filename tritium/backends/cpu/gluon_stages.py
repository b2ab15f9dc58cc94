"""The first stages of kernels in Gluon for CPUs: ttgir, with layouts, and ttir without them."""

from __future__ import annotations

from ...ir import Operation
from ...ir.passes import run_pipeline
from ...ir.verifier import verify
from ...transforms.gluon.pipelines import PIPELINE, TO_TILES
from ...transforms.gluon.verify_kernel import verify_kernel
from .options import CPUOptions
from .stages import make_ttir as tiles_to_ttir

__all__ = ["make_ttgir", "make_ttir"]


def make_ttgir(module: Operation) -> Operation:
    """The module with all layouts chosen: what they leave undecided or contradict is an error on every target."""
    run_pipeline(module, PIPELINE, stage="ttgir", verifier=verify_kernel)
    return module


def make_ttir(module: Operation, metadata: dict[str, object], options: CPUOptions) -> Operation:
    """The same program on tiles without layouts, through the passes of all tile programs."""
    run_pipeline(module, TO_TILES, stage="ttir", verifier=verify)
    tiles_to_ttir(module, metadata, options)
    return module
