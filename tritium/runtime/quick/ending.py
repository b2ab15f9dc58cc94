"""How quick launches end, and what their arguments must be: what launchers say of themselves (see `plan`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..packing import Packer
from ..tensor_maps import MapEncoder

__all__ = ["Ending", "Row"]

Row = Mapping[str, Any]
"""What must hold of an argument, and where its bits go: `check` names a function of `rows_ir` (without `row_`), `at`
(from the first parameter on), `size`, `mask` and `want` say where and of what divisibility; `type`, `low`, `high`,
`object`, `call`, `place` (in the word of `high`) and `expected` are what it asks for, integers or objects."""


class Ending(NamedTuple):
    """What quick launches of one kind of kernel end with.

    `packer` lays out the arguments for the GPU number `device` (HOST: the CPU), which torch calls `where` (kind,
    index), and that is the `only` one of its kind or not. `places` says, for each way to read an array
    (`arrays.adapter_of`), a function and what it says of an array that is where the kernel runs; arrays read in other
    ways have no plan. `words` are fields of a plan: the machine code (`launch`) with its `state`, and the stream;
    `keep` is what addresses among them are of. `report(x, y, z, stream, status)` makes an error of what the machine
    code returns. `rows` are what must hold besides. `encoders` make the maps of tensor descriptors, in order; without
    any, kernels that take some have no plan. `stored` are the places of the addresses of arrays that may not be
    read-only.
    """

    packer: Packer
    device: int
    where: tuple[int, int]
    only: bool
    places: Mapping[str, tuple[Callable[[Any], Any], Any]]
    words: Mapping[str, Any]
    report: Callable[..., Any]
    keep: Any
    rows: Sequence[Row] = ()
    encoders: Sequence[MapEncoder | None] = ()
    stored: frozenset[int] = frozenset()
