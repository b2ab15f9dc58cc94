"""The LLVM driver: text in; optimized text, assembly and object code out.

The object is always made from the *printed* optimized text, and so is the assembly: both run the same code
generator on the same input, so the assembly may be made later, on demand, and is still exactly the code
that runs. Printing and parsing again costs 0.2 to 0.6 ms a kernel; emitting assembly as well would cost 3 to 5.

Pipelines, measured 2026-11 on Zen 5 with llvmlite 0.50 (ms for vector add / softmax / matmul micro-kernel, text ->
object; the code of levels 1 and 2 is equal here because the input is vectorized already):

| level | passes | whole compile |
|---|---|---|
| 0 | only the inliner for `alwaysinline`; fast instruction selection | 1.3 / 2.7 / 2.3 |
| 1 | a short list (`_SHORT_PIPELINE`) | 5.0 / 7.3 / 5.8 |
| 2 | LLVM's O2 without vectorizers and unrolling | 7.4 / 9.6 / 9.3 |
| 3 | LLVM's O3 with unrolling and vectorizers (for code not made by our compiler) | 7.9 / 17 / 12 |

Over 57 lowered tile programs of the tests, level 1 takes 1.3 ms in the optimizer where level 2 takes 4.5, and its code
has 4 % more instructions: no loop-invariant code motion (llvmlite does not offer the pass alone), and short loops over
scratch memory stay loops. Hence level 2 by default.

LLVM ends the process on internal errors, so what the verifier cannot see but the code generator dies of (another
target's intrinsics, inline assembly) is refused here. `compile_isolated` runs a compile in a process of its own,
for text that nobody vouches for.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

from ...support.dataclasses import dataclass
from ...support.idle import run_pending
from ...support.settings import compilation
from ..errors import BackendError
from ..llvm import Machine, dump, library, read, run_isolated, run_passes, target_machine
from ..minmax_selects import without_minmax_selects
from .masked_stores import without_single_lanes
from .sign_masks import without_sign_masks
from .target import CPUTarget

__all__ = [
    "DEFAULT_LEVEL",
    "CompiledModule",
    "compile_isolated",
    "compile_llvm",
    "emit_assembly",
    "emit_object",
    "optimize",
    "warm_up",
]

DEFAULT_LEVEL = 2

_WORKER = "tritium.backends.cpu.llvm_worker"

_SHORT_PIPELINE = (
    "add_always_inliner_pass",
    "add_sroa_pass",
    "add_simplify_cfg_pass",
    "add_instruction_combine_pass",
    "add_new_gvn_pass",
    "add_loop_rotate_pass",
    "add_loop_deletion_pass",
    "add_dead_store_elimination_pass",
    "add_instruction_combine_pass",
    "add_aggressive_dce_pass",
    "add_simplify_cfg_pass",
    "add_global_dead_code_eliminate_pass",
)

_INLINE_ASM = re.compile(
    r"^\s*module asm\b|\bcall\b[^\n]*\basm\s+(?:sideeffect|alignstack|inteldialect|unwind|\")", re.M
)
_TARGET_INTRINSIC = re.compile(r"@\"?llvm\.(x86|aarch64|arm|nvvm|amdgcn|ppc|riscv|hexagon|s390|wasm|mips|spv|ve)\.")


@dataclass(frozen=True)
class CompiledModule:
    """One module through LLVM: `object` is the machine code, `llir` LLVM's own text of what it was made from."""

    llir: str
    object: bytes
    target: CPUTarget
    level: int = DEFAULT_LEVEL

    @cached_property
    def asm(self) -> str:
        """The assembly text of `object`, made at the first request."""
        return emit_assembly(self.llir, self.target, self.level)


def compile_llvm(text: str, target: CPUTarget, level: int = DEFAULT_LEVEL, optimized: bool = False) -> CompiledModule:
    """Parse, verify, optimize (unless it is `optimized` already) and emit LLVM `text` for `target`.

    Raises BackendError with LLVM's message if the text is malformed.
    """
    llir = text if optimized else optimize(text, target, level)
    return CompiledModule(llir, emit_object(llir, target, level), target, level)


def warm_up(target: CPUTarget) -> None:
    """Import LLVM and make the target machine of this thread, which the first compile would do (about 60 ms)."""
    target_machine(_machine(target, DEFAULT_LEVEL))


def optimize(text: str, target: CPUTarget, level: int = DEFAULT_LEVEL) -> str:
    """The LLVM text of `text` after the pipeline of `level` (0 to 3) with the target machine at hand."""
    level = 0 if compilation.disable_llvm_opt else level
    module = _parse(text, target, level)
    dump("Before", module)
    _run_pipeline(module, target, level)
    dump("After", module)
    return str(module)


def emit_object(llir: str, target: CPUTarget, level: int = DEFAULT_LEVEL) -> bytes:
    """A relocatable object file (ELF; Mach-O for Apple triples) of optimized text."""
    return _emit(llir, target, level, as_object=True)


def emit_assembly(llir: str, target: CPUTarget, level: int = DEFAULT_LEVEL, remarks: bool = False) -> str:
    """The assembly text of the object that `emit_object` makes; `remarks` of LLVM say what is spilled, among others."""
    machine = target_machine(_machine(target, level))
    machine.set_asm_verbosity(remarks)
    try:
        return _emit(llir, target, level, as_object=False).decode()
    finally:
        machine.set_asm_verbosity(False)


def _emit(llir: str, target: CPUTarget, level: int, as_object: bool) -> bytes:
    _refuse_fatal(llir, target)
    llir = without_minmax_selects(llir)
    if target.has_avx512:
        llir = without_sign_masks(without_single_lanes(llir))
    module = read(llir, _machine(target, level))
    run_pending(long=False)
    try:
        return target_machine(_machine(target, level))._emit_to_memory(module, use_object=as_object)
    except RuntimeError as error:
        raise BackendError(f"LLVM could not emit code for {target}: {error}") from None


def _machine(target: CPUTarget, level: int) -> Machine:
    return Machine(target.triple, target.cpu, target.features, level)


def _parse(text: str, target: CPUTarget, level: int) -> Any:
    _refuse_fatal(text, target)
    return read(text, _machine(target, level))


def _refuse_fatal(text: str, target: CPUTarget) -> None:
    """Raise for text the verifier accepts but the code generator ends the process over."""
    if "asm" in text and _INLINE_ASM.search(text):
        raise BackendError("inline assembly is not accepted")
    for family in set(_TARGET_INTRINSIC.findall(text)):
        if family != {"x86_64": "x86", "aarch64": "aarch64"}[target.arch]:
            raise BackendError(f"llvm.{family}.* intrinsics cannot be compiled for {target}")


def _run_pipeline(module: Any, target: CPUTarget, level: int) -> None:
    llvm = library()
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    options.slp_vectorization = options.loop_vectorization = level == 3
    options.loop_unrolling = options.loop_interleaving = level == 3
    builder = llvm.create_pass_builder(target_machine(_machine(target, level)), options)
    if level >= 2:
        manager = builder.getModulePassManager()
    else:
        manager = llvm.create_new_module_pass_manager()
        for name in _SHORT_PIPELINE[: 1 if level == 0 else None]:
            getattr(manager, name)()
    run_passes(manager, module, builder)


def compile_isolated(
    text: str, target: CPUTarget, level: int = DEFAULT_LEVEL, timeout: float = 60.0, optimized: bool = False
) -> CompiledModule:
    """`compile_llvm` in a process of its own, so that LLVM ending the process is a BackendError here.

    `optimized` text is emitted as it stands (optimizing twice gives other code than optimizing once).
    Costs about 0.2 s; raises BackendError also after `timeout` seconds.
    """
    machine = {"triple": target.triple, "cpu": target.cpu, "features": target.features}
    answer = run_isolated(_WORKER, {**machine, "level": level, "optimized": optimized}, text, timeout)
    size, _, rest = answer.partition(b"\n")
    return CompiledModule(rest[: int(size)].decode(), rest[int(size) :], target, level)
