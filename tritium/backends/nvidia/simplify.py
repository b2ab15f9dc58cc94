"""Which of LLVM's passes make code better, and how often: kernels are simplified once.

LLVM's pipeline of level 1 for a whole module simplifies it three times: before and after inlining, and again behind
what it does to loops. A kernel whose text is one function has nothing to inline and is in simple terms already; for
it the middle part is enough, the passes by which LLVM simplifies a function. That halves the time of the optimizer
(73 texts of `examples/`, 4.0 to 2.0 s), and PTX is the same but for the order of some lines, a few fewer and rarely a
few more (`benchmarks/NOTES.md`). Of what the whole pipeline has besides, alignments of scratch are told by the
lowering, short loops are unrolled by ptxas, and where there are functions that are not marked `alwaysinline`, it runs
as a whole.

The passes are given the target machine: without one they take code for that of some machine where threads do not work
together, and may move what must not be moved. One thing that the target's costs prevent pays all the same. NVPTX
calls 64-bit additions twice as dear as 32-bit ones; so a 32-bit loop counter is not made a 64-bit one although each
trip extends it for addresses, and these are computed in each trip from row offsets that all stay alive: 908 bytes of
spills in a matmul over descriptors (128 x 128 tiles, 4 warps, sm_80), and none where the counter is widened.
A kernel with such a loop is simplified without costs; where library functions are called, whose branches and
intrinsics ask for them, or the whole pipeline has run, that is done behind. What threads do together is safe there:
calls are marked `convergent`, and no pass of level 1 copies or moves those (the ones that ask for divergence begin at
2).

Levels, measured 2026-11 with llvmlite 0.50 over Triton's own input for vector add, softmax, a matmul and
attention: 1, 2 and 3 give the same PTX to the byte; 1 takes two thirds of the time of 3. (Vectorizers are off: memory
is accessed in vectors already, and arithmetic has none.)
"""

from __future__ import annotations

from typing import Any

from ...support.patterns import pattern
from ..llvm import gpu_library, run_function_passes, run_passes

__all__ = ["simplified"]

LEVEL = 1


def simplified(module: Any, text: str, machine: Any, optimize: bool = True) -> str:
    """Optimize LLVM's module, made of `text` and of what was linked to it; its text then.

    Without `optimize` only what must be is done: what is marked `alwaysinline` is inlined, and library functions are
    told what they ask about the target.
    """
    if not optimize:
        _run_whole(module, 0, machine)
        return str(module)
    linked = _bodies(module) > f"\n{text}".count("\ndefine ")
    if linked:
        _run_whole(module, 0, machine, unused=False)
    if _bodies(module) > 1:
        return _by_the_whole_pipeline(module, machine)
    counters = extends_counters(text)
    if linked or not counters:
        _run_part(module, machine)
    if counters:
        _run_part(module, None)
    return str(module)


def _by_the_whole_pipeline(module: Any, machine: Any) -> str:
    _run_whole(module, LEVEL, machine)
    optimized = str(module)
    if not extends_counters(optimized):
        return optimized
    _run_part(module, None)
    return str(module)


def _bodies(module: Any) -> int:
    return sum(not function.is_declaration for function in module.functions)


def _run_whole(module: Any, level: int, machine: Any, unused: bool = True) -> None:
    """LLVM's pipeline of a level, with the costs of a target machine; what is `unused` then goes away, or may stay."""
    builder = _pass_builder(level, machine)
    manager = builder.getModulePassManager()
    if not unused:
        manager.add_global_dead_code_eliminate_pass()
    run_passes(manager, module, builder)


def _run_part(module: Any, machine: Any) -> None:
    """The part of it that simplifies functions, with the costs of a target machine or none."""
    run_function_passes(module, lambda: _pass_builder(LEVEL, machine))


def _pass_builder(level: int, machine: Any) -> Any:
    llvm = gpu_library()
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    options.slp_vectorization = options.loop_vectorization = options.loop_interleaving = False
    return llvm.create_pass_builder(machine, options)


# An instruction stands on a line of its own: beginning with its end, a pattern is tried once a line
_COUNTER = pattern(r"\n  (%[\w.]+) = phi i32 ")
_STEP = pattern(r"\n  (%[\w.]+) = (?:shl|mul|add|sub|or)\b[a-z ]* i32 (%[\w.]+|\d+), (%[\w.]+|\d+)")
_EXTENDED = pattern(r"= [sz]ext(?: nneg)? i32 (%[\w.]+) to i64")


def extends_counters(text: str) -> bool:
    """Whether a 32-bit number that a loop carries, or one an operation away from it, is extended to 64 bits."""
    carried = set(_COUNTER.findall(text))
    if not carried:
        return False
    near = {m[1] for m in _STEP.finditer(text) if m[2] in carried or m[3] in carried}
    return any(name in carried or name in near for name in _EXTENDED.findall(text))
