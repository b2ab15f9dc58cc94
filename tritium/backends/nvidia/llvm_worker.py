"""One stage of a compile in a process of its own: the optimized text, or the PTX, is its answer."""

from __future__ import annotations

import sys
from typing import Any

from ..llvm import gpu_library, read, serve
from .codegen import Chip, emit_text, optimized_module


def run_stage(request: dict[str, Any], text: str) -> bytes:
    """The answer to one request of `optimize` or `emit_ptx`."""
    chip = Chip(request["capability"], request["ptx"])
    if request["stage"] == "llir":
        libraries = tuple((name, path) for name, path in request["libraries"])
        return optimized_module(text, chip, libraries, request["ftz"])[1].encode()
    if request["fewer_registers"]:
        gpu_library().set_option("", "-nvptx-sched4reg")
    return emit_text(read(text, chip.machine()), chip).encode()


if __name__ == "__main__":
    sys.exit(serve(run_stage))
