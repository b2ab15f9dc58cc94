"""The CPU backend: LLVM text to machine code in memory, and a native thread pool that runs it.

Describes the host or a named target (vector width, registers, features), drives LLVM through llvmlite, loads
object code without a C compiler, and splits a grid of programs over persistent threads.

>>> from tritium.backends.cpu import compile_llvm, host_target, load_kernel
>>> text = "define void @k(ptr %args, ptr %ctx, i64 %begin, i64 %end) { ret void }"
>>> kernel = load_kernel(compile_llvm(text, host_target()), "k")
>>> kernel.launch(0, 4, 1, 1)
"""

from .driver import LoadedKernel, load_kernel
from .errors import BackendError
from .launch import make_launcher
from .llvm import CompiledModule, compile_isolated, compile_llvm, emit_assembly, emit_object, optimize
from .loader import LoadedObject, load_object
from .options import CPUOptions
from .pool import get_num_threads, set_num_threads
from .target import CPUTarget, host_target, named_target, target_names

__all__ = [
    "BackendError",
    "CPUOptions",
    "CPUTarget",
    "CompiledModule",
    "LoadedKernel",
    "LoadedObject",
    "compile_isolated",
    "compile_llvm",
    "emit_assembly",
    "emit_object",
    "get_num_threads",
    "host_target",
    "load_kernel",
    "load_object",
    "make_launcher",
    "named_target",
    "optimize",
    "set_num_threads",
    "target_names",
]
