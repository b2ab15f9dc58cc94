"""The instructions of AMD GPUs, by kind; importing the package registers them."""

from . import (
    atomics,
    compare,
    control,
    convert,
    floating,
    integer,
    lanes,
    lds,
    matrix,
    memory,
    packed,
    scalar,
    scalar_memory,
)

__all__ = [
    "atomics",
    "compare",
    "control",
    "convert",
    "floating",
    "integer",
    "lanes",
    "lds",
    "matrix",
    "memory",
    "packed",
    "scalar",
    "scalar_memory",
]
