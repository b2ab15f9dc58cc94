"""The SSA names of a piece of IR, as MLIR gives them.

A value with a hint is `%hint`, made unique in its scope by a suffix from one counter (`%x`, `%x_0`, `%y`, `%y_1`);
other constants are named by their value (`%c1_i32`, `%cst`, `%true`), the results of an operation that declares
several by their fields (`%low, %high = …`; those of a field of variable size share its name, `%buffers:2`); arguments
of entry blocks are `%arg0` and so on (those with a name of their own count too), all other values are numbered. All
values of a region are named before those of the regions nested in it, which go on counting where the enclosing region
ended.
"""

from __future__ import annotations

import re
from typing import Any

from ..support.patterns import pattern
from .operation import Block, Operation, Region, Value
from .traits import CONSTANT, ISOLATED, NAMED_RESULTS

__all__ = ["Naming", "naming_root", "restore_hints"]

_PLAIN = pattern(r"[A-Za-z_$.\-][\w$.\-]*", re.ASCII)
_KEPT = re.compile(r"[\w$.\-]", re.ASCII).fullmatch
_SUFFIXED = pattern(r"(.+)_(\d+)")
_sanitized: dict[str, str] = {}


def _sanitize(hint: str) -> str:
    """A hint as an identifier: a leading digit gets an underscore, other characters become hex."""
    if not _PLAIN.fullmatch(hint):
        text = "".join([c if _KEPT(c) else "_" if c == " " else _hex(c) for c in hint])
        _sanitized[hint] = text = f"_{text}" if text[:1].isdigit() else text
        return text
    _sanitized[hint] = hint
    return hint


def _hex(ch: str) -> str:
    return ch.encode("utf-8", "surrogatepass").hex().upper()


class _Names(dict[Value, str]):
    """Names by value; a value that is nowhere defined prints as a marker instead of failing the dump."""

    def __missing__(self, value: Value) -> str:
        return "<<UNKNOWN SSA VALUE>>"


class Naming:
    """Names of all values in and below `root` (`names`, with the percent sign) and of all blocks (`blocks`).

    With `restore`, hints are names from a text: `hints` then holds what they may have been before they were made
    unique, `x` for `x_3` where naming makes `x_3` of it again.
    """

    __slots__ = ("_conflict", "_restore", "_used", "blocks", "hints", "names")

    def __init__(self, root: Operation, *, restore: bool = False) -> None:
        self.names: dict[Value, str] = _Names()
        self.blocks: dict[Block, str] = {}
        self._used: set[str] = set()
        self._conflict = 0
        self._restore = restore
        self.hints: dict[Value, str | None] = {}
        added: list[str] = []
        number = self._results(root, 0, added) if root.results else 0
        for region in root.regions:
            self._region(region, number, 0)

    def _region(self, region: Region, number: int, argument: int) -> None:
        conflict = self._conflict
        added: list[str] = []
        inner: list[Operation] = []
        names = self.names
        named = CONSTANT | NAMED_RESULTS
        for i, block in enumerate(region.blocks):
            self.blocks[block] = f"^bb{i}"
            if block.args:
                number, argument = self._arguments(block, i == 0, number, argument, added)
            op = block.first
            while op is not None:
                results = op.results
                if results:
                    if len(results) == 1 and not results[0].hint and not op.traits & named:
                        names[results[0]] = f"%{number}"
                        number += 1
                    else:
                        number = self._results(op, number, added)
                if op.regions:
                    inner.append(op)
                op = op.next
        after = self._conflict
        for op in inner:
            for nested in op.regions:
                self._conflict = after
                self._region(nested, number, argument)
        self._used.difference_update(added)
        self._conflict = conflict

    def _arguments(self, block: Block, entry: bool, number: int, argument: int, added: list[str]) -> tuple[int, int]:
        for arg in block.args:
            hint = arg.hint
            if self._restore and entry and hint == f"arg{argument}" and hint not in self._used:
                hint = self.hints[arg] = None
            if hint:
                self.names[arg] = "%" + self._take(arg, hint, added)
            elif entry:
                self.names[arg] = "%" + self._take(arg, f"arg{argument}", added)
            else:
                self.names[arg] = f"%{number}"
                number += 1
            argument += entry
        return number, argument

    def _results(self, op: Operation, number: int, added: list[str]) -> int:
        results = op.results
        if len(results) > 1 or op.traits & NAMED_RESULTS:
            return self._groups(op, number, added)
        first = results[0]
        hint = first.hint
        usual: str | None = op.result_name() if op.traits & CONSTANT else None  # type: ignore[attr-defined]
        if not hint and not usual:
            self.names[first] = f"%{number}"
            return number + 1
        self.names[first] = "%" + self._take(first, hint or usual or "", added)
        if usual and self._restore and self.hints.get(first, hint) == usual:
            self.hints[first] = None
        return number

    def _groups(self, op: Operation, number: int, added: list[str]) -> int:
        """Results with a hint each begin a group of one name; without any hint, those do that begin a field."""
        results = op.results
        hints = {i: r.hint for i, r in enumerate(results) if r.hint}
        if not hints and op.traits & NAMED_RESULTS:
            hints = _field_names(op)
        starts = sorted({0, *hints})
        for start, end in zip(starts, [*starts[1:], len(results)]):
            hint = hints.get(start)
            if hint:
                name = "%" + self._take(results[start], hint, added)
            else:
                name = f"%{number}"
                number += 1
            for i in range(start, end):
                self.names[results[i]] = name if end - start == 1 else f"{name}#{i - start}"
        return number

    def _take(self, value: Value, hint: str, added: list[str]) -> str:
        name = _sanitized.get(hint) or _sanitize(hint)
        used = self._used
        if self._restore and value not in self.hints and (m := _SUFFIXED.fullmatch(name)) and m[1] in used:
            n = self._conflict
            while f"{m[1]}_{n}" in used and n - self._conflict < 1000:
                n += 1
            if n == int(m[2]) and str(n) == m[2]:
                name = self.hints[value] = m[1]
        if name in used:
            base = name
            while True:
                name = f"{base}_{self._conflict}"
                self._conflict += 1
                if name not in used:
                    break
        used.add(name)
        added.append(name)
        return name


def _field_names(op: Any) -> dict[int, str]:
    """The name of the field that begins with each result; none where the operation breaks its definition."""
    out: dict[int, str] = {}
    at = 0
    try:
        for f in op.result_fields:
            value = getattr(op, f.name)
            n = len(value) if f.arity == "*" else int(value is not None)
            if n:
                out[at] = f.name.rstrip("_")
            at += n
    except (KeyError, IndexError, TypeError, AttributeError):
        return {}
    return out if at == len(op.results) else {}


def naming_root(op: Operation) -> Operation:
    """The operation whose names `op` shares: the nearest one around it whose regions see nothing from outside."""
    while (parent := op.parent_op) is not None and not op.traits & ISOLATED:
        op = parent
    return op


def restore_hints(root: Operation) -> None:
    """Make of the names of a parsed text the hints they came from, if printing gives the same names again.

    Where it would not (a value was called `x_0` from the start, so that the text does not tell), the names stay.
    """
    naming = Naming(root, restore=True)
    for value, name in naming.names.items():
        text = name.removesuffix("#0")
        if value.hint is not None and text != f"%{value.hint}" and "#" not in text:
            return
    for value, hint in naming.hints.items():
        value.hint = hint
