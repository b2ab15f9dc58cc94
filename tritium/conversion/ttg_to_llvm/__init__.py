"""From tensors with layouts to LLVM text: what each thread of a GPU does.

`module` makes functions, `context` is what lowering one carries along, `positions` says which elements a thread holds.
The other files have the lowerings, by what they do; they ask layouts for their linear maps, never for their names.
"""

# the modules of lowerings register themselves
from . import (
    arith,
    async_copy,
    atomics,
    casts,
    convert_layout,
    debug,
    dot,
    floats,
    fp4,
    gather,
    histogram,
    inline_asm,
    local_atomics,
    math,
    memory,
    program,
    rare,
    reduce,
    scan,
    shape,
    shared_memory,
)
from .module import LoweredModule, ttg_to_llvm

__all__ = ["LoweredModule", "ttg_to_llvm"]
