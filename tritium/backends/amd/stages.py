"""The AMD stages: `ttir` for now."""

from __future__ import annotations

from typing import Any

from ...ir.passes import run_pipeline
from ...ir.verifier import verify
from ...transforms.ttir import gpu_ttir_pipeline
from .options import HIPOptions

__all__ = ["make_ttir"]


def make_ttir(module: Any, metadata: dict[str, Any], options: HIPOptions) -> Any:
    """The module after the passes of the table, with descriptors where hardware reads them."""
    run_pipeline(module, gpu_ttir_pipeline(options.native_descriptors, True), stage="ttir", verifier=verify)
    return module
