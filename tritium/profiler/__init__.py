"""How long kernels take, by scope: Triton's profiler under its names.

    import tritium.profiler as proton
    proton.start("matmul", hook="triton")
    with proton.scope("forward", {"flops16": 2.0 * m * n * k}):
        matmul[grid](a, b, c, m, n, k)
    proton.finalize()                      # writes matmul.hatchet; `proton.viewer` reads it

Times are those of events in the stream of the launch: of each kernel of ours, and of a scope without one (a call of a
library, say) from its beginning to its end. No tool of the GPU's vendor is needed; what an event costs (about a
microsecond) is in the time of a kernel.
"""

from __future__ import annotations

from .session import (
    activate,
    deactivate,
    enter_scope,
    exit_scope,
    finalize,
    profile,
    scope,
    start,
)

__all__ = ["activate", "deactivate", "enter_scope", "exit_scope", "finalize", "profile", "scope", "start"]
