"""IR before and after passes: whole, or as the lines that changed.

The heading of a dump is Triton's, so that what searches for it finds it:

    // -----// IR Dump Before CanonicalizerPass: canonicalize ('tt.func' operation: @add) //----- //
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Iterable
from typing import Any, TextIO

from ...support.dataclasses import dataclass
from ...support.lazy import LazyModule
from ..operation import Operation
from ..printer import print_op
from .definition import Pass, functions_of, symbol_name
from .registry import PASSES

__all__ = ["DumpSettings", "Dumper", "difference", "parse_dumps", "takes_colours"]

_difflib = LazyModule("difflib")

ALL = ("all",)
_RED, _GREEN, _CYAN, _PLAIN = "\x1b[31m", "\x1b[32m", "\x1b[36m", "\x1b[0m"


@dataclass(frozen=True)
class DumpSettings:
    """What to print, and where.

    `before`, `after` and `changed` name passes, or are `("all",)`; `changed` prints after a pass that changed the text.
    `functions` limits it to modules with one of these functions (none: all modules), and prints those functions alone
    unless `whole_module`. `path` is a file to add to, in place of stderr; `folder` a folder with a file for each dump.
    """

    before: Collection[str] = ()
    after: Collection[str] = ()
    changed: Collection[str] = ()
    failure: bool = False
    functions: Collection[str] = ()
    whole_module: bool = False
    diff: bool = False
    generic: bool = False
    locations: bool = False
    path: str | None = None
    folder: str | None = None

    def __bool__(self) -> bool:
        return bool(self.before or self.after or self.changed or self.failure)

    def dumper(self, module: Operation) -> Dumper:
        """What prints around the passes of a run on `module`."""
        return Dumper(module, self)


_WORDS = {"before": "before", "after": "after", "change": "changed"}
_FLAGS = {
    "failure": "failure",
    "diff": "diff",
    "module": "whole_module",
    "generic": "generic",
    "locations": "locations",
}


def parse_dumps(text: str) -> DumpSettings:
    """The settings that words with commas between say, as `TRITIUM_PRINT_IR` has them; ValueError for other words.

    >>> parse_dumps("before:cse,change,diff,function:add").before
    ('cse',)
    """
    made: dict[str, Any] = {}
    for word in text.split(","):
        key, colon, name = word.strip().partition(":")
        if key in _WORDS:
            made[_WORDS[key]] = (*made.get(_WORDS[key], ()), PASSES.canonical(name) if colon else "all")
        elif key in _FLAGS and not colon:
            made[_FLAGS[key]] = True
        elif key == "function" and name:
            made["functions"] = (*made.get("functions", ()), name.lstrip("@"))
        elif key == "to" and name:
            made["folder"] = name
        elif word.strip():
            known = [*_WORDS, *_FLAGS, "function:NAME", "to:FOLDER"]
            raise ValueError(f"TRITIUM_PRINT_IR knows {', '.join(known)}, not {word.strip()!r}")
    if made.get("diff") and "changed" not in made:
        made["changed"] = ALL
    return DumpSettings(**made)


def _names(wanted: Collection[str], p: Pass) -> bool:
    return bool(wanted) and ("all" in wanted or p.name in wanted)


def takes_colours(stream: TextIO) -> bool:
    """Whether a stream is a terminal whose user wants colours (`NO_COLOR` says no)."""
    return stream.isatty() and "NO_COLOR" not in os.environ


def difference(before: str, after: str, *, colour: bool = False, context: int = 3) -> str:
    """The lines that differ, as a unified diff without file names."""
    lines = list(_difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=context))[2:]
    if not colour:
        return "\n".join(lines)
    tones = {"-": _RED, "+": _GREEN, "@": _CYAN}
    return "\n".join(f"{tones[line[0]]}{line}{_PLAIN}" if line[:1] in tones else line for line in lines)


class Dumper:
    """Prints the IR around the passes of one run."""

    def __init__(self, module: Operation, settings: DumpSettings) -> None:
        self.module = module
        self.settings = settings
        self.on = bool(settings)
        if self.on and settings.functions:
            self.on = not set(settings.functions).isdisjoint(symbol_name(f)[1:] for f in functions_of(module))
        self.number = 0
        self.last = ""

    def _text(self, op: Operation) -> str:
        s = self.settings
        if s.whole_module:
            ops: Iterable[Operation] = [self.module]
        elif s.functions:
            ops = [f for f in functions_of(op) if symbol_name(f)[1:] in s.functions] or [op]
        else:
            ops = [op]
        return "\n".join(print_op(o, generic=s.generic, locations=s.locations) for o in ops)

    def before(self, p: Pass, op: Operation) -> None:
        """Called before `p` runs on `op`."""
        if not self.on:
            return
        if _names(self.settings.changed, p):
            self.last = self._text(op)
        if _names(self.settings.before, p):
            self.write("Before", p, op, self._text(op))

    def after(self, p: Pass, op: Operation) -> None:
        """Called after `p` ran on `op`."""
        if not self.on:
            return
        s = self.settings
        changed = False
        if _names(s.changed, p):
            text = self._text(op)
            changed = text != self.last
            if changed:
                shown = difference(self.last, text, colour=self._coloured()) if s.diff else text
                self.write("After", p, op, shown)
        if _names(s.after, p) and not changed:
            self.write("After", p, op, self._text(op))

    def failed(self, p: Pass, op: Operation) -> None:
        """Called when `p` failed on `op`."""
        if not self.on or not self.settings.failure:
            return
        try:
            text = self._text(op)
        except Exception as error:  # half-made IR may have no text
            text = f"// the IR cannot be printed: {type(error).__name__}: {error}"
        self.write("After", p, op, text, " Failed")

    def _coloured(self) -> bool:
        return self.settings.path is None and self.settings.folder is None and takes_colours(sys.stderr)

    def write(self, when: str, p: Pass, op: Operation, text: str, what: str = "") -> None:
        """One dump with its heading."""
        name = symbol_name(op)
        where = f"'{op.name}' operation" + (f": {name}" if name != op.name else "")
        heading = f"// -----// IR Dump {when} {PASSES.title(p.name)}{what}: {p} ({where}) //----- //"
        message = f"{heading}\n{text}\n"
        self.number += 1
        folder, path = self.settings.folder, self.settings.path
        if folder is not None:
            os.makedirs(folder, exist_ok=True)
            name = re.sub(r"[^\w.@-]+", "_", name)
            path = os.path.join(folder, f"{self.number:03}-{name.lstrip('@')}-{when.lower()}-{p.name}.mlir")
        if path is None:
            _print(message, sys.stderr)
        else:
            with open(path, "a" if folder is None else "w") as f:
                _print(message, f)


def _print(message: str, stream: TextIO) -> None:
    print(message, file=stream, flush=True)
