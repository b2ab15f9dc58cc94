"""The section of a file that is no program: `{-# … #-}`, with data for attributes and notes of tools.

    {-#
      dialect_resources: { builtin: { weights: "0x0800000001000000" } },
      external_resources: { mlir_reproducer: { pipeline: "builtin.module(cse)", verify_each: true } }
    #-}

As a Python value: dictionaries by name, three deep, whose values are strings (blobs too, as written) and booleans.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..support.text import quote
from .attributes import key

if TYPE_CHECKING:
    from .lexer import Cursor

__all__ = ["Resources", "read_resources", "resources_text"]

Resources = dict[str, dict[str, dict[str, "str | bool"]]]


def _name(cursor: Cursor) -> str:
    name = cursor.string() if cursor.text[cursor.pos] == '"' else cursor.word("the name of a resource")
    cursor.expect(":")
    return name


def read_resources(cursor: Cursor, into: Resources) -> None:
    """Read a section into `into`, beside what is there."""
    cursor.expect("{-#")
    first = True
    while not cursor.accept("#-}"):
        if not first:
            cursor.expect(",")
        first = False
        section = into.setdefault(_name(cursor), {})
        cursor.expect("{")
        while not cursor.accept("}"):
            owner = section.setdefault(_name(cursor), {})
            cursor.expect("{")
            cursor.comma_list(lambda owner=owner: _entry(cursor, owner), "}")  # type: ignore[misc]
            cursor.accept(",")


def _entry(cursor: Cursor, owner: dict[str, str | bool]) -> None:
    at = cursor.pos
    name = _name(cursor)
    if name in owner:
        raise cursor.error(f"the resource '{name}' is given twice", at)
    word = cursor.accept_any("true", "false")
    owner[name] = word == "true" if word is not None else cursor.string()


def resources_text(resources: Resources) -> str:
    """The section as MLIR writes it, without a newline at its end; "" when there is nothing to say."""
    sections = []
    for section, owners in resources.items():
        parts = []
        for owner, entries in owners.items():
            lines = [f"      {key(name)}: {_value(v)}" for name, v in entries.items()]
            parts.append(f"    {key(owner)}: {{\n" + ",\n".join(lines) + "\n    }")
        sections.append(f"  {key(section)}: {{\n" + ",\n".join(parts) + "\n  }")
    return "{-#\n" + ",\n".join(sections) + "\n#-}" if sections else ""


def _value(value: str | bool) -> str:
    return quote(value) if isinstance(value, str) else "true" if value else "false"
