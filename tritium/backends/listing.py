"""Machine code between the lines of the source that it comes from.

    kernel.py:12  mask = offsets < n_elements
            ISETP.GE.AND P0, PT, R0, R13, PT;
    kernel.py:6  w = tl.exp(v)    (called from kernel.py:15)
            MUFU.EX2 R12, R12;

A line is shown wherever code of another line ends: compilers mix the code of several. Line tables name the place in
the innermost function only; from where that was called is said by LLVM's metadata (`calls_of`): all of the places,
where there are several.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ..support import files
from ..support.text import unescape

__all__ = ["Calls", "Coded", "calls_of", "interleave", "place", "source_line"]

Calls = Mapping[tuple[str, int], Iterable[str]]
"""(file, line) -> from where it was called, each as `file.py:12`."""


class Coded(NamedTuple):
    """A line of machine code, as it is to be shown, and its place in the source (line 0: unknown)."""

    text: str
    file: str
    line: int


def place(file: str, line: int) -> str:
    """`kernel.py:12`, without folders."""
    return f"{os.path.basename(file)}:{line}"


def source_line(file: str, line: int) -> str:
    """The line of the source without its indentation; empty where the file cannot be read."""
    return files.source_line(file, line).strip()


def interleave(code: Iterable[Coded], calls: Calls | None = None) -> str:
    """The code with a line of the source above what comes from it."""
    out: list[str] = []
    last = ("", -1)
    for row in code:
        at = (row.file, row.line)
        if at != last:
            out.append(_heading(row.file, row.line, sorted((calls or {}).get(at, ()))))
            last = at
        out.append(row.text)
    return "\n".join(out) + "\n"


def _heading(file: str, line: int, callers: list[str]) -> str:
    if not line:
        return "(no line of the source)"
    called = f"    (called from {', '.join(callers)})" if callers else ""
    return f"{place(file, line)}  {source_line(file, line)}".rstrip() + called


_FILE = re.compile(r'^!(\d+) = (?:distinct )?!DIFile\(filename: "(.*?)", directory: "(.*?)"', re.M)
_SCOPE = re.compile(r"^!(\d+) = (?:distinct )?!DI(?:Subprogram|LexicalBlockFile|LexicalBlock)\(.*?\bfile: !(\d+)", re.M)
_LOCATION = re.compile(
    r"^!(\d+) = (?:distinct )?!DILocation\((?:line: (\d+), )?(?:column: \d+, )?scope: !(\d+)(?:, inlinedAt: !(\d+))?",
    re.M,
)


def calls_of(llir: str) -> dict[tuple[str, int], set[str]]:
    """(file, line) -> from where that was called, for the inlined functions of LLVM text with locations.

    >>> text = '''!1 = !DIFile(filename: "k.py", directory: "/f")
    ... !2 = distinct !DISubprogram(name: "double", scope: !1, file: !1, line: 3)
    ... !3 = distinct !DILocation(line: 9, column: 5, scope: !2)
    ... !4 = !DILocation(line: 4, column: 7, scope: !2, inlinedAt: !3)'''
    >>> calls_of(text)
    {('/f/k.py', 4): {'k.py:9'}}
    """
    paths = {number: os.path.join(unescape(folder), unescape(name)) for number, name, folder in _FILE.findall(llir)}
    scopes = {number: paths.get(file, "") for number, file in _SCOPE.findall(llir)}
    rows = {number: (scopes.get(scope, ""), int(line or 0), at) for number, line, scope, at in _LOCATION.findall(llir)}
    out: dict[tuple[str, int], set[str]] = {}
    for file, line, caller in rows.values():
        if caller in rows:
            out.setdefault((file, line), set()).add(place(*rows[caller][:2]))
    return out
