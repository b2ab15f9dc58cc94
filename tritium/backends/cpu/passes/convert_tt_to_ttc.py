"""convert-tt-to-ttc: a tile program as loops over vectors and buffers of a CPU's width.

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
    """What a program runs on.

    `target`: a CPU by name, such as x86-64-v3, or host for this machine; `sanitize`: write a check of the bounds before
    each access; `guard-stores`: before each store one that the memory is not only to be read.
    """

    target: str = "host"
    sanitize: bool = False
    guard_stores: bool = False


@pass_on("module")
def convert_tt_to_ttc(module: Operation, options: ConvertOptions = ConvertOptions()) -> bool:
    """Make loops over vectors and buffers of the tiles of all kernels. BackendError for a CPU that is not known."""
    made = converted(module, named_target(options.target), options.sanitize, options.guard_stores)  # type: ignore[arg-type]
    body = module.regions[0].blocks[0]
    for op in list(body):
        op.erase()
    for op in list(made.body):
        op.detach()
        body.append(op)
    return True
