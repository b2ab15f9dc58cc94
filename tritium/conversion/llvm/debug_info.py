"""Where code came from, as LLVM's metadata: lines of a profiler and of the assembler's errors are the user's own.

Every function has a DISubprogram, every instruction a DILocation. An operation of an inlined function has a location
in that function, inlined at the one where it was called:

    loc(callsite("lib.py":3:7 at "kernel.py":12:5))

    !5 = distinct !DILocation(line: 12, column: 5, scope: !3)
    !6 = !DILocation(line: 3, column: 7, scope: !4, inlinedAt: !5)

Locations do not say which function they are in; the `def` above the line in the source file does. Only lines are
described, no variables or types: the kind `DebugDirectivesOnly` makes `.loc` and `.file` of PTX, and no sections;
`LineTablesOnly` makes the line table of an object.

>>> from tritium.support import CallSiteLoc, FileLineColLoc
>>> debug = DebugInfo()
>>> debug.function_at("kernel", FileLineColLoc("kernel.py", 10, 1))
' !dbg !3'
>>> debug.at(FileLineColLoc("kernel.py", 12, 5))
', !dbg !4'
>>> debug.at(CallSiteLoc(FileLineColLoc("lib.py", 3, 7), FileLineColLoc("kernel.py", 12, 5)))
', !dbg !8'
"""

from __future__ import annotations

import os
from typing import Any

from ...support import CallSiteLoc, FileLineColLoc, FusedLoc, Location, NameLoc
from ...support.files import source_lines
from ...support.patterns import pattern
from ...support.text import llvm_quote

__all__ = ["DebugInfo"]

_DEF = pattern(r"(\s*)(?:async\s+)?def\s+(\w+)")


class DebugInfo:
    """The metadata of one module. `function` begins a function, `at` is for its instructions, `text` at the end."""

    def __init__(self, kind: str = "DebugDirectivesOnly") -> None:
        self._emission = kind
        self._nodes: list[str] = []
        self._numbers: dict[str, int] = {}
        self._unit = -1
        self._kind = -1
        self._scope = -1  # the function that is being lowered
        self._file = -1  # and its file
        self._known: dict[Location, str] = {}

    def function(self, func: Any) -> str:
        """Begin a function of the module; returns the text after its attributes."""
        return self.function_at(func.sym_name, func.loc)

    def function_at(self, name: str, loc: Location) -> str:
        """The same for a name and a location; nothing where the location is unknown."""
        self._known = {}
        at = loc.file_position()
        if at is None:
            self._scope = -1
            return ""
        self._file = self._file_node(at.file)
        if self._unit < 0:
            self._unit = self._node(
                f'distinct !DICompileUnit(language: DW_LANG_Python, file: !{self._file}, producer: "tritium", '
                f"isOptimized: true, runtimeVersion: 0, emissionKind: {self._emission})"
            )
            self._kind = self._node("!DISubroutineType(types: !{})")
        self._scope = self._subprogram(name, self._file, at.line)
        return f" !dbg !{self._scope}"

    def at(self, loc: Location) -> str:
        """What is written behind the instructions of an operation at `loc`."""
        if self._scope < 0:
            return ""
        found = self._known.get(loc)
        if found is None:
            found = self._known[loc] = f", !dbg !{self._location(loc)}"
        return found

    def text(self) -> str:
        """The module's metadata."""
        if self._unit < 0:
            return ""
        version = self._node('!{i32 2, !"Debug Info Version", i32 3}')
        named = [f"!llvm.dbg.cu = !{{!{self._unit}}}", f"!llvm.module.flags = !{{!{version}}}"]
        return "\n".join(named + [f"!{i} = {node}" for i, node in enumerate(self._nodes)])

    def _node(self, text: str) -> int:
        """The number of a node; what is written `distinct` is told apart by its text, too."""
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = len(self._nodes)
            self._nodes.append(text)
        return number

    def _file_node(self, path: str) -> int:
        folder, name = os.path.split(path)
        return self._node(f"!DIFile(filename: {llvm_quote(name)}, directory: {llvm_quote(folder)})")

    def _subprogram(self, name: str, file: int, line: int) -> int:
        place = f"scope: !{file}, file: !{file}, line: {line}, scopeLine: {line}"
        return self._node(
            f"distinct !DISubprogram(name: {llvm_quote(name)}, linkageName: {llvm_quote(name)}, {place}, "
            f"type: !{self._kind}, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !{self._unit})"
        )

    def _location(self, loc: Location) -> int:
        frames = _frames(loc)
        if not frames:
            return self._node(f"!DILocation(line: 0, scope: !{self._scope})")
        *inner, outer = frames
        file = self._file_node(outer.file)
        scope = self._scope
        if file != self._file:
            scope = self._node(f"!DILexicalBlockFile(scope: !{scope}, file: !{file}, discriminator: 0)")
        number = self._position(outer, scope, -1, bool(inner))
        for at in reversed(inner):
            name, line = _function_around(at)
            scope = self._subprogram(name, self._file_node(at.file), line)
            number = self._position(at, scope, number, at is not inner[0])
        return number

    def _position(self, at: FileLineColLoc, scope: int, caller: int, is_call: bool) -> int:
        column = f", column: {at.column}" if 0 < at.column < 1 << 16 else ""
        inlined = f", inlinedAt: !{caller}" if caller >= 0 else ""
        return self._node(f"{'distinct ' * is_call}!DILocation(line: {at.line}{column}, scope: !{scope}{inlined})")


def _frames(loc: Location) -> list[FileLineColLoc]:
    """The positions of a location, that of the operation first, those of the calls around it behind."""
    if isinstance(loc, CallSiteLoc):
        return _frames(loc.callee) + _frames(loc.caller)
    if isinstance(loc, NameLoc):
        return _frames(loc.child)
    if isinstance(loc, FusedLoc):
        return next((found for part in loc.locations if (found := _frames(part))), [])
    return [loc] if isinstance(loc, FileLineColLoc) else []


def _function_around(at: FileLineColLoc) -> tuple[str, int]:
    """The name and the line of the `def` that a position is in, as far as the source is at hand."""
    lines = source_lines(at.file)
    if not 0 < at.line <= len(lines):
        return os.path.basename(at.file) or "inlined", at.line
    own = lines[at.line - 1]
    indent = len(own) - len(own.lstrip())
    for number in range(at.line, 0, -1):
        found = _DEF.match(lines[number - 1])
        if found and (number == at.line or len(found[1]) < indent):
            return found[2], number
    return os.path.basename(at.file), at.line
