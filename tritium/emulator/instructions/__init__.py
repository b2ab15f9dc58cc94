"""The instructions, by kind; importing this package registers them all."""

from . import (
    async_stores,
    atomics,
    bits,
    compare,
    control,
    convert,
    copies,
    floating,
    integer,
    loads,
    matrix,
    mbarrier,
    moves,
    registers,
    tensor,
    tensor_copies,
    tensormap,
    warp,
    warpgroup,
)

__all__ = [
    "async_stores",
    "atomics",
    "bits",
    "compare",
    "control",
    "convert",
    "copies",
    "floating",
    "integer",
    "loads",
    "matrix",
]
__all__ += ["mbarrier", "moves", "registers", "tensor", "tensor_copies", "tensormap", "warp", "warpgroup"]
