"""What lowering a module to LLVM text carries along, on any target."""

from __future__ import annotations

from typing import Any

from ...support import Location
from ...support.dataclasses import dataclass, field

__all__ = ["ModuleContext", "Site"]


@dataclass(frozen=True)
class Site:
    """A place in the kernel that can report at run time; its number is its index in the module's list.

    `kind` is assert, print, load, store or atomic; `details` holds what the reporter needs (message, prefix, types…).
    """

    kind: str
    file: str
    line: int
    column: int
    details: dict[str, Any]


@dataclass
class ModuleContext:
    """Shared by the functions of a module: what it is compiled for, and what it must declare and define.

    `fusion` lets a multiplication and an addition become one fused operation.
    """

    target: Any
    fusion: bool = True
    declares: dict[str, None] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)
    sites: list[Site] = field(default_factory=list)

    def declare(self, line: str) -> None:
        """Make sure that the module has the line `declare …`."""
        self.declares[line] = None

    def define(self, symbol: str, text: str) -> None:
        """Make sure that the module has the helper function `symbol`."""
        self.functions.setdefault(symbol, text)

    def site(self, kind: str, loc: Location, **details: Any) -> int:
        """Number a place that can report; `details["callers"]` are the places it was inlined at, innermost first."""
        at = loc.file_position()
        file, line, column = (at.file, at.line, at.column) if at else ("", 0, 0)
        callers = [[c.file, c.line, c.column] for c in loc.call_positions()]
        if callers:
            details["callers"] = callers
        self.sites.append(Site(kind, file, line, column, details))
        return len(self.sites) - 1
