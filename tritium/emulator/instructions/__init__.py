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
    tensor,
    warp,
)

__all__ = ["atomics", "bits", "compare", "control", "convert", "copies", "floating", "integer", "loads", "moves"]
__all__ += ["matrix", "mbarrier", "tensor", "warp"]
