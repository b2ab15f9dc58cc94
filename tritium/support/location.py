"""Source locations of operations: MLIR's builtin locations as immutable values."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from .text import PLAIN, quote

__all__ = ["UNKNOWN", "CallSiteLoc", "FileLineColLoc", "FileRangeLoc", "FusedLoc", "Location", "NameLoc", "UnknownLoc"]


class Location:
    """Base of all locations; equality is by value, the text form is MLIR's."""

    __slots__ = ("_hash",)
    _hash: int
    alias_name = "loc"

    def _key(self) -> tuple[Any, ...]:
        return ()

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Location) and type(self) is type(other) and self._key() == other._key()

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            self._hash = hash((type(self), self._key()))
            return self._hash

    def spell(self, texts: dict[Any, str]) -> str:
        """The text between `loc(` and `)`, with `texts[x]` for its components."""
        return str(self)

    def __str__(self) -> str:
        return self.spell(PLAIN)

    def __repr__(self) -> str:
        return f"loc({self})"

    def file_position(self) -> FileLineColLoc | None:
        """The innermost file position in this location, if there is one."""
        return None

    def call_positions(self) -> Iterator[FileLineColLoc]:
        """The positions of the calls through which an inlined location came, innermost first."""
        yield from ()

    def user_position(self) -> FileLineColLoc | None:
        """The innermost position that is not in a library function of this package, as messages to users have it."""
        inner = self.file_position()
        if inner is None or not inner.file.startswith(_LIBRARY):
            return inner
        return next((at for at in self.call_positions() if not at.file.startswith(_LIBRARY)), inner)


_LIBRARY = f"{__name__.partition('.')[0]}{os.sep}"
"""The paths of this package's files in locations start with its name (`frontend.source.stable_path`)."""


class UnknownLoc(Location):
    """`loc(unknown)`"""

    __slots__ = ()

    def spell(self, texts: dict[Any, str]) -> str:
        return "unknown"


UNKNOWN = UnknownLoc()


class FileLineColLoc(Location):
    """`loc("file.py":3:7)`; `line` and `column` count from 1 as MLIR prints them."""

    __slots__ = ("column", "file", "line")

    def __init__(self, file: str, line: int, column: int) -> None:
        self.file = file
        self.line = line
        self.column = column

    def _key(self) -> tuple[Any, ...]:
        return (self.file, self.line, self.column)

    def spell(self, texts: dict[Any, str]) -> str:
        return f"{quote(self.file)}:{self.line}:{self.column}"

    def file_position(self) -> FileLineColLoc | None:
        return self

    def text(self, folder: bool = True) -> str:
        """The position as every message has it: `file.py:3:7`; without its `folder`, as short tables have it."""
        return f"{self.file if folder else os.path.basename(self.file)}:{self.line}:{self.column}"


class FileRangeLoc(FileLineColLoc):
    """`loc("file.py":3:7 to :12)`, `loc("file.py":3:7 to 4:2)`: a range of text."""

    __slots__ = ("end_column", "end_line")

    def __init__(self, file: str, line: int, column: int, end_line: int, end_column: int) -> None:
        super().__init__(file, line, column)
        self.end_line = end_line
        self.end_column = end_column

    def _key(self) -> tuple[Any, ...]:
        return (self.file, self.line, self.column, self.end_line, self.end_column)

    def spell(self, texts: dict[Any, str]) -> str:
        line = self.end_line if self.end_line != self.line else ""
        return f"{super().spell(texts)} to {line}:{self.end_column}"


class NameLoc(Location):
    """`loc("x"(child))`: the name of a variable, and the location of its assignment."""

    __slots__ = ("child", "name")

    def __init__(self, name: str, child: Location = UNKNOWN) -> None:
        self.name = name
        self.child = child

    def _key(self) -> tuple[Any, ...]:
        return (self.name, self.child)

    def spell(self, texts: dict[Any, str]) -> str:
        return quote(self.name) if isinstance(self.child, UnknownLoc) else f"{quote(self.name)}({texts[self.child]})"

    def file_position(self) -> FileLineColLoc | None:
        return self.child.file_position()

    def call_positions(self) -> Iterator[FileLineColLoc]:
        return self.child.call_positions()


class CallSiteLoc(Location):
    """`loc(callsite(callee at caller))`: a position in a function inlined at `caller`."""

    __slots__ = ("callee", "caller")

    def __init__(self, callee: Location, caller: Location) -> None:
        self.callee = callee
        self.caller = caller

    def _key(self) -> tuple[Any, ...]:
        return (self.callee, self.caller)

    def spell(self, texts: dict[Any, str]) -> str:
        return f"callsite({texts[self.callee]} at {texts[self.caller]})"

    def file_position(self) -> FileLineColLoc | None:
        return self.callee.file_position()

    def call_positions(self) -> Iterator[FileLineColLoc]:
        yield from self.callee.call_positions()
        at = self.caller.file_position()
        if at is not None:
            yield at
        yield from self.caller.call_positions()


class FusedLoc(Location):
    """`loc(fused[a, b])`: an operation made from several; `metadata` is an attribute or None."""

    __slots__ = ("locations", "metadata")

    def __init__(self, locations: tuple[Location, ...], metadata: Any = None) -> None:
        self.locations = locations
        self.metadata = metadata

    @classmethod
    def of(cls, locations: Iterable[Location], metadata: Any = None) -> Location:
        """A fused location without duplicates and unknown locations; a single one without metadata is returned
        itself."""
        parts: dict[Location, None] = {}
        for loc in locations:
            inner = loc.locations if isinstance(loc, FusedLoc) and loc.metadata == metadata else (loc,)
            parts.update(dict.fromkeys(part for part in inner if not isinstance(part, UnknownLoc)))
        if metadata is not None:
            return cls(tuple(parts) or (UNKNOWN,), metadata)
        return cls(tuple(parts)) if len(parts) > 1 else next(iter(parts), UNKNOWN)

    def _key(self) -> tuple[Any, ...]:
        return (self.locations, self.metadata)

    def spell(self, texts: dict[Any, str]) -> str:
        metadata = f"<{texts[self.metadata]}>" if self.metadata is not None else ""
        return f"fused{metadata}[{', '.join([texts[part] for part in self.locations])}]"

    def file_position(self) -> FileLineColLoc | None:
        return next((p for loc in self.locations if (p := loc.file_position())), None)

    def call_positions(self) -> Iterator[FileLineColLoc]:
        first = next((loc for loc in self.locations if loc.file_position()), None)
        return iter(()) if first is None else first.call_positions()
