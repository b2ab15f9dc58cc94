"""The SSA names of a piece of IR, as MLIR gives them.

A value with a hint is `%hint`, made unique in its scope by a suffix from one counter (`%x`, `%x_0`, `%y`, `%y_1`);
constants are named by their value (`%c1_i32`, `%cst`, `%true`); arguments of entry blocks are `%arg0`, all other
values are numbered. All values of a region are named before those of the regions nested in it, which go on counting
where the enclosing region ended.
"""

from __future__ import annotations

import re

from .operation import Block, Operation, Region, Value
from .traits import CONSTANT, ISOLATED

__all__ = ["Naming", "naming_root", "restore_hints"]

_PLAIN = re.compile(r"[A-Za-z_$.\-][\w$.\-]*", re.ASCII)
_SUFFIXED = re.compile(r"(.+)_(\d+)")
_sanitized: dict[str, str] = {}


def _sanitize(hint: str) -> str:
    """A hint as an identifier: a leading digit gets an underscore, other characters become hex."""
    if not _PLAIN.fullmatch(hint):
        text = "".join(
            c if c.isascii() and (c.isalnum() or c in "_$.-") else "_" if c == " " else f"{ord(c):X}" for c in hint
        )
        _sanitized[hint] = text = f"_{text}" if text[:1].isdigit() else text
        return text
    _sanitized[hint] = hint
    return hint


class _Names(dict[Value, str]):
    """Names by value; a value that is nowhere defined prints as a marker instead of failing the dump."""

    def __missing__(self, value: Value) -> str:
        return "<<UNKNOWN SSA VALUE>>"


class Naming:
    """Names of all values in and below `root` (`names`, with the percent sign) and of all blocks (`blocks`).

    With `restore`, hints that came from a text are turned back into what they were before they were made unique:
    `x_3` into `x` where naming would make `x_3` of it again.
    """

    __slots__ = ("_conflict", "_restore", "_used", "blocks", "names")

    def __init__(self, root: Operation, *, restore: bool = False) -> None:
        self.names: dict[Value, str] = _Names()
        self.blocks: dict[Block, str] = {}
        self._used: set[str] = set()
        self._conflict = 0
        self._restore = restore
        added: list[str] = []
        number = self._results(root, 0, added) if root.results else 0
        for region in root.regions:
            self._region(region, number, 0)

    def _region(self, region: Region, number: int, argument: int) -> None:
        conflict = self._conflict
        added: list[str] = []
        inner: list[Operation] = []
        names = self.names
        for i, block in enumerate(region.blocks):
            self.blocks[block] = f"^bb{i}"
            if block.args:
                number, argument = self._arguments(block, i == 0, number, argument, added)
            op = block.first
            while op is not None:
                results = op.results
                if results:
                    if len(results) == 1 and not results[0].hint and not op.traits & CONSTANT:
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
            if self._restore and entry and arg.hint == f"arg{argument}" and arg.hint not in self._used:
                arg.hint = None
            if arg.hint:
                self.names[arg] = "%" + self._take(arg, arg.hint, added)
            elif entry:
                self.names[arg] = "%" + self._take(arg, f"arg{argument}", added)
                argument += 1
            else:
                self.names[arg] = f"%{number}"
                number += 1
        return number, argument

    def _results(self, op: Operation, number: int, added: list[str]) -> int:
        results = op.results
        first = results[0]
        hint = op.result_name() if op.traits & CONSTANT else first.hint  # type: ignore[attr-defined]
        if hint:
            if self._restore and op.traits & CONSTANT:
                first.hint = None
            name = "%" + self._take(first, hint, added)
        else:
            name = f"%{number}"
            number += 1
        if len(results) == 1:
            self.names[first] = name
        else:
            for i, result in enumerate(results):
                self.names[result] = f"{name}#{i}"
        return number

    def _take(self, value: Value, hint: str, added: list[str]) -> str:
        name = _sanitized.get(hint) or _sanitize(hint)
        used = self._used
        if self._restore and value.hint and (m := _SUFFIXED.fullmatch(name)) and m[1] in used:
            n = self._conflict
            while f"{m[1]}_{n}" in used:
                n += 1
            if n == int(m[2]) and str(n) == m[2]:
                value.hint = name = m[1]
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


def naming_root(op: Operation) -> Operation:
    """The operation whose names `op` shares: the nearest one around it whose regions see nothing from outside."""
    while (parent := op.parent_op) is not None and not op.traits & ISOLATED:
        op = parent
    return op


def restore_hints(root: Operation) -> None:
    """Make the hints of a parsed text such that printing gives the names of the text again."""
    Naming(root, restore=True)
