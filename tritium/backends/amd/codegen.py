"""LLVM text -> optimized LLVM IR -> AMDGCN assembly, and a relocatable object.

LLVM writes the object itself: assembling text would need its assembler for AMDGPU, which llvmlite does not have.
Assembly and object are therefore two outputs of one optimized module; with inline assembly there is only the first,
which `assembler` assembles.

LLVM ends the process on what it cannot select, so that text of a user (`UserText`), inline assembly included, is
compiled in a process of its own.
"""

from __future__ import annotations

import re
from typing import Any

from ...conversion.ttg_to_llvm.amd.target import NO_ACCESS_MERGING
from ...support.dataclasses import asdict, dataclass
from ...support.patterns import pattern
from ...support.settings import compilation
from ..compiler import UserText
from ..errors import BackendError
from ..llvm import Machine, dump, gpu_library, read, run_isolated, run_passes, target_machine
from ..minmax_selects import without_minmax_selects
from .libraries import link_libraries
from .loads_before_barriers import with_loads_before_barriers

__all__ = ["AMDGPUTarget", "emit", "has_inline_assembly", "optimize", "run_stage"]

TRIPLE = "amdgcn-amd-amdhsa"
TIMEOUT = 300.0
LEVEL = 3
_WORKER = "tritium.backends.amd.llvm_worker"
_INLINE_ASSEMBLY = pattern(r"^ .*\bcall [^@\n\"]*\basm (?:sideeffect |alignstack |inteldialect |unwind )*\"[^\"]", re.M)


@dataclass(frozen=True)
class AMDGPUTarget:
    """The target of code generation: `arch` ("gfx942"), LLVM's `features` ("+cumode"), and (name, path) of bitcode
    `libraries`. `isolated`: attributes of the user, on which LLVM may end the process, are in the text."""

    arch: str
    features: str = ""
    libraries: tuple[tuple[str, str], ...] = ()
    isolated: bool = False

    def machine(self) -> Machine:
        """LLVM's target machine."""
        return Machine(TRIPLE, self.arch, self.features, LEVEL)


def has_inline_assembly(llir: str) -> bool:
    """Whether LLVM text has inline assembly that is not empty."""
    return " asm " in llir and _INLINE_ASSEMBLY.search(llir) is not None


def optimize(text: str, target: AMDGPUTarget, comment: str = "") -> str:
    """LLVM `text` optimized; a `comment` is prepended. BackendError with LLVM's message where it is malformed."""
    if target.isolated or isinstance(text, UserText) or has_inline_assembly(text):
        request = {**asdict(target), "stage": "llir"}
        made = run_isolated(_WORKER, request, text, TIMEOUT).decode()
    else:
        made = _optimized(text, target)
    made = f"; {comment}\n{made}" if comment else made
    return UserText(made) if isinstance(text, UserText) else made


def _optimized(text: str, target: AMDGPUTarget) -> str:
    machine = target.machine()
    module = read(text, machine)
    if target.libraries:
        link_libraries(module, target.libraries, target.arch)
    dump("Before", module)
    llvm = gpu_library()
    options = llvm.create_pipeline_tuning_options(speed_level=0 if compilation.disable_llvm_opt else LEVEL)
    options.slp_vectorization = target.arch == "gfx942"  # which has packed arithmetic of f32
    options.loop_vectorization = options.loop_interleaving = False
    builder = llvm.create_pass_builder(target_machine(machine), options)
    run_passes(builder.getModulePassManager(), module, builder)
    dump("After", module)
    return str(module)


def emit(llir: str, target: AMDGPUTarget, use_object: bool) -> bytes:
    """The assembly text of optimized LLVM IR, or its object; BackendError where LLVM refuses it."""
    if target.isolated or isinstance(llir, UserText) or has_inline_assembly(llir):
        return run_isolated(_WORKER, {**asdict(target), "stage": "object" if use_object else "amdgcn"}, llir, TIMEOUT)
    return _emitted(llir, target, use_object)


def _emitted(llir: str, target: AMDGPUTarget, use_object: bool) -> bytes:
    text = with_loads_before_barriers(without_minmax_selects(llir)).replace(f'"{NO_ACCESS_MERGING}"', "noimplicitfloat")
    module = read(text, target.machine())
    try:
        made: bytes = target_machine(target.machine())._emit_to_memory(module, use_object=use_object)
    except RuntimeError as error:
        raise BackendError(f"LLVM could not emit code for {target.arch}: {error}") from None
    return made


def run_stage(request: dict[str, Any], text: str) -> bytes:
    """The answer of the worker process to one request of `optimize` or `emit`."""
    libraries = tuple((name, path) for name, path in request["libraries"])
    target = AMDGPUTarget(request["arch"], request["features"], libraries)
    if request["stage"] == "llir":
        return _optimized(text, target).encode()
    return _emitted(text, target, request["stage"] == "object")
