"""convert-tt-to-ttc: lower a tile program to loops over vectors and buffers of a CPU's width.

A compile runs the same conversion between `ttir` and `ttcir`; this is for text.
"""

from __future__ import annotations

from ....conversion.tt_to_ttc import convert_tt_to_ttc as converted
from ....ir import Operation, pass_on
from ....support.dataclasses import dataclass
from ..target import named_target

__all__ = ["ConvertOptions", "convert_tt_to_ttc"]


@dataclass(frozen=True)
class ConvertOptions:
    """The target CPU and the run-time checks.

    `target`: a CPU by name, such as x86-64-v3, or host for this machine; `sanitize`: check bounds before each access;
    `guard-stores`: check before each store that the memory is writable.
    """

    target: str = "host"
    sanitize: bool = False
    guard_stores: bool = False


@pass_on("module")
def convert_tt_to_ttc(module: Operation, options: ConvertOptions = ConvertOptions()) -> bool:
    """Convert the tiles of all kernels to loops over vectors and buffers. BackendError for an unknown CPU."""
    made = converted(module, named_target(options.target), options.sanitize, options.guard_stores)  # type: ignore[arg-type]
    body = module.regions[0].blocks[0]
    for op in list(body):
        op.erase()
    for op in list(made.body):
        op.detach()
        body.append(op)
    return True
