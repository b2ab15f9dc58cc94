"""Gluon: kernels with explicit layouts, shared memory and synchronization.

from tritium.experimental import gluon
from tritium.experimental.gluon import language as gl

@gluon.jit
def copy(x, y, n, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0])
    at = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout)
    gl.store(y + at, gl.load(x + at, at < n), at < n)
"""

from ...frontend.aggregates import aggregate
from ...frontend.callee import constexpr_function, must_use_result
from ...runtime.gluon_jit import GluonASTSource, GluonJITFunction, jit
from . import amd, nvidia

__all__ = [
    "GluonASTSource",
    "GluonJITFunction",
    "aggregate",
    "amd",
    "constexpr_function",
    "jit",
    "must_use_result",
    "nvidia",
]
