"""What `tritium opt` writes besides the IR's text: counts of operations; and names of values that locations give."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..support import CallSiteLoc, Location, NameLoc

__all__ = ["name_by_locations", "operation_counts"]


def operation_counts(module: Any) -> str:
    """How many operations of each kind there are inside, a line each, grouped by dialect."""
    counts = Counter(op.name for op in module.walk() if op is not module)
    width = max(map(len, counts), default=0)
    lines = [f"{name:<{width}}  {n}" for name, n in sorted(counts.items())]
    return "\n".join([*lines, f"{'(all)':<{width}}  {counts.total()}"]) + "\n"


def name_by_locations(module: Any) -> None:
    """Name every value as its location does, where it does: `loc("x"(…))` makes it `%x`."""
    for op in module.walk():
        for region in op.regions:
            for block in region.blocks:
                for arg in block.args:
                    arg.hint = _name(arg.loc) or arg.hint
        name = _name(op.loc) if op.results else None
        if name:
            op.results[0].hint = name


def _name(loc: Location) -> str | None:
    """The first name in a location, from the inside of an inlined call outwards."""
    if isinstance(loc, NameLoc):
        return loc.name
    inner = (loc.callee, loc.caller) if isinstance(loc, CallSiteLoc) else getattr(loc, "locations", ())
    return next((name for part in inner if (name := _name(part))), None)
