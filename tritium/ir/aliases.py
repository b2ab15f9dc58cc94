"""Aliases: long attributes, and locations, are defined once a module and named where they are used.

    #blocked = #ttg.blocked<{…}>                        above the module: what it cannot be read without
    module { … tensor<64xf32, #blocked> … loc(#loc2) }
    #loc2 = loc("k.py":3:5)                             below it: locations of operations

Names are numbered in the order of MLIR's printer: first what is made of no other alias, then what is made of those,
and so on; among these by name, then by first use. The order of use is that of printing, so all is known only at the
end: until then a mark stands for each name, and `Aliases.finish` puts the names in their place.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from ..support import FileLineColLoc
from ..support.text import quote
from .types import Type

__all__ = ["Aliases", "Texts", "is_alias", "plain_texts"]

_MARK = "\1"
_LONGEST = 200


def is_alias(text: str) -> bool:
    """Whether the text of a part, as given to `spell`, stands for an alias."""
    return text[:1] == _MARK


class _Spelt(dict[Any, str]):
    """Texts without aliases, made once for as long as the process lives; long ones are made each time."""

    def __missing__(self, part: Any) -> str:
        text: str = part.spell(self)
        if len(text) <= _LONGEST:
            self[part] = text
        return text


#: Whole texts, and of these the ones that would be no other with aliases.
plain_texts: dict[Any, str] = _Spelt()
_unaliased: dict[Any, str] = {}


class _Entry:
    """A value met in printing: its own text, what stands for it, and which others it is made of."""

    __slots__ = ("body", "deferred", "depth", "is_attribute", "mark", "name", "parts")

    def __init__(self, deferred: bool, body: str, mark: str, parts: Sequence[_Entry], name: str, depth: int) -> None:
        self.deferred = deferred
        self.body = body
        self.mark = mark
        self.parts = parts
        self.name = name
        self.depth = depth
        self.is_attribute = True

    def keep_above(self) -> None:
        """Define this, and all it is made of, above the module."""
        if self.deferred:
            self.deferred = False
            for part in self.parts:
                part.keep_above()


_in_order = attrgetter("depth", "is_attribute", "name")


class _Quoted(dict[str, str]):
    """The names of files in quotes."""

    def __missing__(self, name: str) -> str:
        text = self[name] = quote(name)
        return text


_quoted = _Quoted()


class Texts(dict[Any, str]):
    """What stands for a type, an attribute or a location in the text being printed."""

    __slots__ = ("aliases", "deferred")

    def __init__(self, aliases: Aliases, deferred: bool) -> None:
        self.aliases = aliases
        self.deferred = deferred

    def __missing__(self, value: Any) -> str:
        text = None if self.deferred else _unaliased.get(value)
        if text is None:
            text = self.aliases.visit(value, self.deferred).mark
        self[value] = text
        return text


class _Parts(dict[Any, str]):
    """The texts given to `spell`, which note what was asked for."""

    __slots__ = ("aliases", "deferred", "found")

    def __init__(self, aliases: Aliases, deferred: bool) -> None:
        self.aliases = aliases
        self.deferred = deferred
        self.found: list[_Entry] = []

    def __missing__(self, value: Any) -> str:
        text = _unaliased.get(value) if value.alias_name is None else None
        if text is not None:
            return text
        entry = self.aliases.visit(value, self.deferred)
        self.found.append(entry)
        return entry.mark


class Aliases:
    """The values met while a module is printed; `above` and `below` give their texts."""

    __slots__ = ("above", "below", "entries")

    def __init__(self) -> None:
        self.entries: dict[Any, _Entry] = {}
        #: for what must be known where it is used, and for locations of operations, which may be looked up later
        self.above = Texts(self, False)
        self.below = Texts(self, True)

    def visit(self, value: Any, deferred: bool) -> _Entry:
        """The entry of a value; on the first visit its text is made."""
        entry = self.entries.get(value)
        if entry is not None:
            if not deferred:
                entry.keep_above()
            return entry
        entries = self.entries
        entries[value] = None  # type: ignore[assignment]  # its place in the order
        number = len(entries)
        if value.__class__ is FileLineColLoc:
            body = f"{_quoted[value.file]}:{value.line}:{value.column}"
            entry = entries[value] = _Entry(deferred, body, f"{_MARK}{number}{_MARK}", (), "loc", 1)
            return entry
        parts = _Parts(self, deferred)
        mark = body = value.spell(parts)
        depth = 0
        for part in parts.found:
            if part.depth >= depth:
                depth = part.depth
        name = value.alias_name or ""
        if name:
            mark = f"{_MARK}{number}{_MARK}"
            if name[-1].isdigit():
                name += "_"
        elif not depth and len(body) <= _LONGEST:
            _unaliased[value] = body
        entry = entries[value] = _Entry(deferred, body, mark, parts.found, name, depth + 1 if depth or name else 0)
        entry.is_attribute = not isinstance(value, Type)
        return entry

    def body(self, value: Any) -> str:
        """The text of a value in place of its alias; the value counts as used."""
        text = self.above[value]
        return self.entries[value].body if is_alias(text) else text

    def finish(self, text: str) -> str:
        """`text` with names in place of the marks, and the definitions above and below it."""
        named = [entry for entry in self.entries.values() if entry.name]
        if not named:
            return text
        named.sort(key=_in_order)
        counts: dict[str, int] = {}
        names: dict[str, str] = {}
        definitions: tuple[list[str], list[str]] = ([], [])
        for entry in named:
            n = counts[entry.name] = counts.get(entry.name, -1) + 1
            name = f"{'#' if entry.is_attribute else '!'}{entry.name}{n or ''}"
            names[entry.mark[1:-1]] = name
            body = f"loc({entry.body})" if entry.name == "loc" else entry.body
            definitions[entry.deferred].append(f"{name} = {body}")
        pieces = "\n".join([*definitions[0], text, *definitions[1]]).split(_MARK)
        pieces[1::2] = [names[number] for number in pieces[1::2]]
        return "".join(pieces)
