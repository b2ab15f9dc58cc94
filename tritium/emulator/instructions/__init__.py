"""The instructions, by kind; importing this package registers them all."""

from . import (
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

__all__ = ["atomics", "bits", "compare", "control", "convert", "copies", "floating", "integer", "loads", "matrix"]
__all__ += ["mbarrier", "moves", "registers", "tensor", "tensor_copies", "tensormap", "warp", "warpgroup"]
