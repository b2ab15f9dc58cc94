"""The AMD stages: `ttir` for now."""

from __future__ import annotations

from typing import Any

from ...ir.passes import run_pipeline
from ...ir.verifier import verify
from ...transforms.ttir import gpu_ttir_pipeline
from .options import HIPOptions
from .target import HIPTarget

__all__ = ["PIPELINES", "make_ttir"]

PIPELINES = {"hip:gfx942": gpu_ttir_pipeline(HIPTarget("gfx942").has_descriptors, True)}
"""The passes to `ttir` by the first target that has them so."""


def make_ttir(module: Any, metadata: dict[str, Any], options: HIPOptions) -> Any:
    """The module after the passes of the table, with descriptors where hardware reads them."""
    run_pipeline(module, gpu_ttir_pipeline(options.native_descriptors, True), stage="ttir", verifier=verify)
    return module
