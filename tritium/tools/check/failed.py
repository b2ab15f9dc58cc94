"""The operation that an instruction was made of at which the emulator stopped: by its place in the source.

Several operations stand at one place (`tl.store(p + at, x * 2)` is five). Those whose lowering has such instructions
come first; where none of them does, those that touch memory at all.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from ...ir import Operation, memory_effects, parse_module
from .blame import Suspect, line_of, shown
from .steps import Step

__all__ = ["operations_behind"]

_EXCHANGED = ("convert_layout", "reduce", "scan", "gather", "histogram", "trans", "reshape", "cat")
_READ = ("local_load", "dot", *_EXCHANGED)
_WRITTEN = ("local_store", "local_alloc", *_EXCHANGED)
_MADE_OF = {
    "ld.global": ("load", "gather"),
    "st.global": ("store", "scatter"),
    "ld.shared": _READ,
    "ldmatrix": _READ,
    "st.shared": _WRITTEN,
    "stmatrix": _WRITTEN,
    "atom": ("atomic", "histogram"),
    "red.": ("atomic", "histogram"),
    "wgmma": ("dot",),
    "mma": ("dot",),
    "cp.": ("async_", "descriptor", "load"),
    "mbarrier": ("barrier", "async_", "warp_specialize"),
    "bar": ("barrier", "reduce", "scan", "convert_layout", "local_"),
}
_MOST = 3


def operations_behind(step: Step, error: Any) -> tuple[Suspect | None, list[str]]:
    """What an error of the emulator is about, in the program of tiles of a step: the operation, and notes on others."""
    found = list(_behind(step, getattr(error, "instruction", None)))
    notes = [f"or it is {text.operation}" for text in found[1:_MOST]]
    earlier = next(_behind(step, getattr(error, "other", None)), None)
    if earlier is not None:
        notes.append(f"the other access is of {earlier.operation}")
    return (found[0] if found else None), notes


def _behind(step: Step, instruction: Any) -> Iterator[Suspect]:
    """The operations that an instruction may be lowered from, the likeliest first."""
    if instruction is None or instruction.loc is None:
        return
    file, *where = instruction.loc
    name = instruction.name.replace(".relaxed", "").replace(".volatile", "")
    words = next((words for head, words in _MADE_OF.items() if name.startswith(head)), ())
    ranked: list[tuple[int, int, Operation]] = []
    for number, op in enumerate(parse_module(step.text, "<ir>", text_locations=True).walk()):
        place = step.places.get(line_of(op))
        if place is None or [*place[1:]] != where or os.path.basename(place[0]) != os.path.basename(file):
            continue
        if op.operands and any(word in op.name for word in words):
            ranked.append((0, number, op))
        elif memory_effects(op) and not op.regions:
            ranked.append((1, number, op))
    best = min((rank for rank, _, _ in ranked), default=0)
    for rank, _, op in ranked:
        if rank == best:
            line = line_of(op)
            yield Suspect(shown(step.text, line), "", "", step.places[line], (0, 0, 0))
