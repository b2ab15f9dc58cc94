"""The launcher's part of a launch plan, and guards of arguments (see `plan`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..packing import Packer
from ..tensor_maps import MapEncoder

__all__ = ["LaunchBackend", "ArgumentGuard"]

ArgumentGuard = Mapping[str, Any]
"""A condition on an argument, and where its bits are stored: `check` names a function of `argument_guards_ir` (without
`guard_`); `at` (offset from the first parameter), `size`, `mask` and `want` (required divisibility) describe the stored
bits; `type`, `low`, `high`, `object`, `call`, `place` (in the word of `high`) and `expected` are operands of the check,
integers or objects."""


class LaunchBackend(NamedTuple):
    """The launcher's part of the plans of a kernel.

    `packer` lays out the arguments for the GPU number `device` (HOST: the CPU), which torch calls `where` (kind,
    index); `only` tells whether it is the only device of its kind. `places` has, for each way to read an array
    (`arrays.adapter_of`), a function and its result for an array on the kernel's device; arrays read in other ways have
    no plan. `words` are fields of a plan: the machine code (`launch`) with its `state`, and the stream; `keep` owns the
    memory at addresses among them. `report(x, y, z, stream, status)` raises the error for a status of the machine code.
    `guards` are further conditions. `encoders` encode the maps of tensor descriptors, in order; without encoders,
    kernels with descriptors have no plan. `stored` are the offsets of the addresses of arrays that are written.
    `resident`: a persistent kernel starts at most so many programs, 0 for others.
    """

    packer: Packer
    device: int
    where: tuple[int, int]
    only: bool
    places: Mapping[str, tuple[Callable[[Any], Any], Any]]
    words: Mapping[str, Any]
    report: Callable[..., Any]
    keep: Any
    guards: Sequence[ArgumentGuard] = ()
    encoders: Sequence[MapEncoder | None] = ()
    stored: frozenset[int] = frozenset()
    resident: int = 0
