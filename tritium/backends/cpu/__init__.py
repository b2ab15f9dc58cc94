"""The CPU backend: LLVM text to machine code in memory, and a native thread pool that runs it.

Describes the host or a named target (vector width, registers, features), drives LLVM through llvmlite, loads
object code without a C compiler, and splits a grid of programs over persistent threads.
"""
