"""The CPU's stages: ttir -> ttcir -> llir -> asm, obj."""

from __future__ import annotations

import os
from typing import Any

from ...analysis.written_arguments import written_arguments
from ...conversion.llvm.debug_info import DebugInfo
from ...conversion.tt_to_ttc import convert_tt_to_ttc
from ...conversion.ttc_to_llvm import ttc_to_llvm
from ...ir.passes import run_pipeline
from ...ir.passes.run import run_conversion
from ...ir.verifier import verify
from ...support.dataclasses import asdict
from ...support.recording import recorded
from ...transforms.ttir import CPU_PIPELINE, TTIR_PIPELINE
from ..compiler import UserText
from .llvm import compile_isolated, emit_assembly, emit_object, optimize
from .options import CPUOptions
from .target import CPUTarget

__all__ = ["make_asm", "make_llir", "make_obj", "make_ttcir", "make_ttir"]


def make_ttir(module: Any, metadata: dict[str, Any], options: CPUOptions) -> Any:
    """The passes every target starts with; the arguments that are (or may be) stored to go into the metadata."""
    run_pipeline(module, TTIR_PIPELINE, stage="ttir", verifier=verify)
    metadata["stored_arrays"], metadata["perhaps_stored_arrays"] = written_arguments(module)
    return module


def make_ttcir(module: Any, metadata: dict[str, Any], target: CPUTarget, options: CPUOptions) -> Any:
    """Tiles as loops over vectors of the machine's width."""

    def convert(module: Any) -> Any:
        return convert_tt_to_ttc(module, target, options.sanitize, options.guard_stores)

    run_pipeline(module, CPU_PIPELINE, stage="ttcir", verifier=verify)
    return run_conversion("convert-tt-to-ttc", module, convert, stage="ttcir", verifier=verify)


def make_llir(module: Any, metadata: dict[str, Any], target: CPUTarget, options: CPUOptions) -> str:
    """LLVM text, optimized with the target's machine; the kernel's symbol and its sites go into the metadata."""
    debug = DebugInfo() if options.line_info else None
    lowered = recorded(
        "ttc-to-llvm",
        lambda: ttc_to_llvm(module, target, fusion=options.enable_fp_fusion, debug=debug),
        lambda made: made.text,
        "llir",
    )
    metadata["name"] = lowered.name
    metadata["sites"] = [_without_folders(asdict(site)) for site in lowered.sites]
    metadata["scratch_bytes"] = lowered.scratch_bytes
    # scripts written for GPUs divide by it to compute occupancy
    metadata["shared"] = max(lowered.scratch_bytes, 1)
    metadata["n_regs"] = target.vector_registers
    return recorded("llvm", lambda: optimize(lowered.text, target, options.opt_level), str, "llir")


def _without_folders(site: dict[str, Any]) -> dict[str, Any]:
    """File names only, so that no path of this machine is in the cache."""
    site["file"] = os.path.basename(site["file"])
    for caller in site["details"].get("callers", ()):
        caller[0] = os.path.basename(caller[0])
    return site


def make_asm(text: str, target: CPUTarget, level: int, remarks: bool = False) -> str:
    """The assembly text of the object that `make_obj` makes; with LLVM's `remarks` on it if that is wanted."""
    if isinstance(text, UserText):
        return compile_isolated(text, target, level, optimized=True).asm
    return emit_assembly(text, target, level, remarks)


def make_obj(text: str, target: CPUTarget, level: int) -> bytes:
    """A relocatable object file."""
    if isinstance(text, UserText):
        return compile_isolated(text, target, level, optimized=True).object
    return emit_object(text, target, level)
