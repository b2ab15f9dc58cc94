"""The passes that take a program of tiles and leave one of tiles."""

from __future__ import annotations

from tests.filetests.runner import passes
from tritium.transforms.ttir import TTIR_PIPELINE

__all__ = ["TILE_PASSES"]

NAMES = {p.name for p in TTIR_PIPELINE} | {"loop-aware-cse", "sccp", "structure-returns"}
TILE_PASSES = {name: fn for name, fn in passes().items() if name in NAMES}
