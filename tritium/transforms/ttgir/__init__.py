"""Passes of the `ttgir` stage: better layouts than the first ones, one pass a file."""

from ...ir.passes.registry import Spelling

__all__ = ["SPELLINGS"]

SPELLINGS = [
    Spelling("coalesce", "TritonGPUCoalesce", ("tritongpu-coalesce",)),
]
"""What Triton calls the passes of this folder."""
