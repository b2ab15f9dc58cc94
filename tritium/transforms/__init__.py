"""Passes from a dialect to itself, one pass per file.

A pass is a function on a module or a function; a pipeline is a table of passes, each line with its reason. The pass
manager of ``tritium.ir`` dumps, times and verifies, so no pass does. Rewrite rules are in ``tritium.transforms.rules``,
one file per dialect.
"""

from .. import dialects as _dialects  # so that their operations can be parsed
from ..ir.passes.registry import PASSES
from ..support.lazy import LazyModule
from . import ttgir
from .spellings import SPELLINGS

_ttir = LazyModule(".ttir", __package__)

PASSES.add_package(__name__, SPELLINGS)
PASSES.add_pipeline("ttir-cpu", "all passes from a kernel to ttir, for the CPU", lambda: _ttir.TTIR_PIPELINE)
for _package in ttgir.PACKAGES:
    PASSES.add_package(f"{ttgir.__name__}.{_package}")
PASSES.add_spellings(ttgir.SPELLINGS)
PASSES.add_package(f"{__name__}.gluon")
