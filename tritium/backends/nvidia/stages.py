"""The NVIDIA stages: `ttir` for now."""

from __future__ import annotations

from typing import Any

from ...ir.passes import run_pipeline
from ...ir.verifier import verify
from ...transforms.ttir import gpu_ttir_pipeline
from .options import CUDAOptions
from .target import CUDATarget

__all__ = ["PIPELINES", "make_ttir"]

PIPELINES = {f"cuda:{c}": gpu_ttir_pipeline(CUDATarget(c).has_descriptors) for c in (80, 90)}
"""The passes to `ttir` by the first target that has them so."""


def make_ttir(module: Any, metadata: dict[str, Any], options: CUDAOptions) -> Any:
    """The module after the passes of the table, with descriptors where hardware reads them."""
    run_pipeline(module, gpu_ttir_pipeline(options.native_descriptors), stage="ttir", verifier=verify)
    return module
