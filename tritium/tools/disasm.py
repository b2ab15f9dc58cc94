"""SASS of kernels, under Triton's names: `get_sass(kernel.asm["cubin"])`; `get_listing` has it between the lines of the
source."""

from __future__ import annotations

from pathlib import Path

from ..backends.nvidia.disassembler import get_listing, get_sass

__all__ = ["extract", "get_listing", "get_sass"]


def extract(file_path: str, fun: str | None = None) -> str:
    """The instructions of the functions in a CUBIN file, or of the one called `fun`: see `get_sass`."""
    return get_sass(Path(file_path).read_bytes(), fun)
