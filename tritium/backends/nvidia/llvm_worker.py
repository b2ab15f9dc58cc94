"""One stage of a compile in a process of its own: the optimized text, or the PTX, is its answer."""

from __future__ import annotations

import sys
from typing import Any

from ..llvm import gpu_library, read, serve
from ..minmax_selects import without_minmax_selects
from .codegen import NVPTXTarget, emit_text, optimized_module


def run_stage(request: dict[str, Any], text: str) -> bytes:
    """The answer to one request of `optimize` or `emit_ptx`."""
    target = NVPTXTarget(request["capability"], request["ptx"])
    if request["stage"] == "llir":
        libraries = tuple((name, path) for name, path in request["libraries"])
        return optimized_module(text, target, libraries, request["ftz"])[1].encode()
    if request["fewer_registers"]:
        gpu_library().set_option("", "-nvptx-sched4reg")
    module = read(text, target.machine())  # first as it is: errors name lines of this text
    kept = without_minmax_selects(text)
    return emit_text(module if kept == text else read(kept, target.machine()), target).encode()


if __name__ == "__main__":
    sys.exit(serve(run_stage))
