"""The passes of the `ttir` stage: what every target does to a tile program before it chooses its own form."""

from __future__ import annotations

from ..ir import Pass, check_order
from .canonicalize import canonicalize
from .cse import cse
from .dce import dce
from .inliner import inline
from .symbol_dce import symbol_dce

__all__ = ["ORDER", "TTIR_PIPELINE"]

TTIR_PIPELINE = [  # order matters: see ORDER
    Pass("inliner", inline, "one function a kernel: the passes below look no further than a function"),
    Pass("symbol-dce", symbol_dce, "functions that were inlined everywhere are not worth optimizing"),
    Pass("canonicalize", canonicalize, "constants, shapes and control flow in normal form"),
    Pass("cse", cse, "each value computed once"),
    Pass("dce", dce, "what the merges left behind"),
]

ORDER = [
    ("inliner", "symbol-dce", "only inlining makes functions dead"),
]

check_order(TTIR_PIPELINE, ORDER)
