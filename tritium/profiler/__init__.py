"""How long kernels take, by scope: Triton's profiler (Proton) under its names.

    import tritium.profiler as proton
    proton.start("matmul", hook="triton")
    with proton.scope("forward", {"flops16": 2.0 * m * n * k}):
        matmul[grid](a, b, c, m, n, k)
    proton.finalize()                      # writes matmul.hatchet; `proton-viewer` reads it

Kernels of a CUDA GPU are timed by events in the stream of the launch, those of the CPU and of an emulated GPU by the
host's clock. No tool of the GPU's vendor is needed; the cost of an event, about a microsecond, is part of the time.
"""

from __future__ import annotations

from . import context, data, mode, specs
from .profile import DEFAULT_PROFILE_NAME, activate, deactivate, finalize, profile, start
from .scope import cpu_timed_scope, enter_scope, exit_scope, scope
from .state import enter_state, exit_state, metadata_state, state

__all__ = [
    "DEFAULT_PROFILE_NAME",
    "activate",
    "context",
    "cpu_timed_scope",
    "data",
    "deactivate",
    "enter_scope",
    "enter_state",
    "exit_scope",
    "exit_state",
    "finalize",
    "metadata_state",
    "mode",
    "profile",
    "scope",
    "specs",
    "start",
    "state",
]
