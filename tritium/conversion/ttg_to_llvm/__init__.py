"""From tensors with layouts to LLVM text: what each thread of a GPU does.

`module` makes functions, `context` is what lowering one carries along, `positions` says which elements a thread holds.
The other files have the lowerings, by what they do; they ask layouts for their linear maps, never for their names.
Each is imported when an operation of its turns up: `files` says where that is.
"""

from .module import LoweredModule, ttg_to_llvm

__all__ = ["LoweredModule", "ttg_to_llvm"]
