"""Tritium: a tile compiler in Python for kernels written in the Triton language.

    import tritium as triton
    import tritium.language as tl

are the only changes in a script for Triton: modules that have another path here are found under Triton's names, too
(`dropin/module_names`). All imports are lazy: the modules that kernels need are imported with `jit`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from .dropin.module_names import add_triton_names, find_alias
from .support import TritiumError, current_target
from .support.finder import find_quickly
from .support.lazy import lazy_attributes, load

if TYPE_CHECKING:
    from . import knobs
    from .compiler import compile
    from .compiler.source import ASTSource
    from .frontend.callee import constexpr_function
    from .numbers import cdiv, next_power_of_2
    from .runtime import (
        JITFunction,
        KernelInterface,
        MockTensor,
        OutOfResources,
        TensorWrapper,
        driver,
        reinterpret,
    )
    from .runtime.jit import jit
    from .tools.check.oracle import check

__version__ = "0.1.0"

TritonError = TritiumError

current_target.active[:] = [lambda: load(".runtime.driver", __name__).driver.active.get_current_target()]

__getattr__ = lazy_attributes(
    __name__,
    {
        "_C": "._C:",
        "ASTSource": ".compiler.source",
        "AsyncCompileMode": ".runtime.async_compile",
        "Autotuner": ".runtime.autotuner",
        "Config": ".runtime.autotuner",
        "CompilationError": ".frontend.errors",
        "FutureKernel": ".runtime.async_compile",
        "Heuristics": ".runtime.autotuner",
        "InterpreterError": ".runtime",
        "JITFunction": ".runtime",
        "KernelInterface": ".runtime",
        "MockTensor": ".runtime",
        "OutOfResources": ".runtime",
        "TensorWrapper": ".runtime",
        "aggregate": ".frontend.aggregates",
        "autotune": ".runtime.autotuner",
        "backends": ".backends:",
        "cdiv": ".numbers",
        "check": ".tools.check.oracle",
        "compile": ".compiler",
        "compiler": ".compiler:",
        "constexpr_function": ".frontend.callee",
        "dialects": ".dialects:",
        "driver": ".runtime",
        "frontend": ".frontend:",
        "heuristics": ".runtime.autotuner",
        "install": ".dropin.alias",
        "ir": ".ir:",
        "jit": ".runtime.jit",
        "knobs": ".knobs:",
        "language": ".language:",
        "must_use_result": ".frontend.callee",
        "next_power_of_2": ".numbers",
        "notebook": ".notebook:",
        "reinterpret": ".runtime",
        "runtime": ".runtime:",
        "set_allocator": ".runtime.allocation",
        "testing": ".testing:",
        "tools": ".tools:",
        "transforms": ".transforms:",
    },
    globals(),
)
find_quickly(__name__, add_triton_names, find_alias)
add_triton_names(sys.modules[__name__])

__all__ = [
    "ASTSource",
    "AsyncCompileMode",
    "Autotuner",
    "CompilationError",
    "Config",
    "FutureKernel",
    "Heuristics",
    "InterpreterError",
    "JITFunction",
    "KernelInterface",
    "MockTensor",
    "OutOfResources",
    "TensorWrapper",
    "TritiumError",
    "TritonError",
    "aggregate",
    "autotune",
    "cdiv",
    "check",
    "compile",
    "compiler",
    "constexpr_function",
    "driver",
    "heuristics",
    "install",
    "jit",
    "knobs",
    "language",
    "must_use_result",
    "next_power_of_2",
    "reinterpret",
    "runtime",
    "set_allocator",
    "testing",
    "tools",
]
