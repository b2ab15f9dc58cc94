"""The source position of a kernel, under Triton's attribute names.

A library that generates a kernel from a template assigns the template's position, which errors, profilers and debuggers
then show.
"""

from __future__ import annotations

from typing import Any

from ..frontend.source import SourceText
from ..support.lazy import LazyModule

__all__ = ["SourcePosition"]

_inspect = LazyModule("inspect")


class SourcePosition:
    """The attributes of a JIT function for its file and lines."""

    fn: Any
    hash: str | None
    source: SourceText

    @property
    def raw_src(self) -> list[str]:
        """The lines of the source in the file, decorators first; or the assigned lines."""
        return self.__dict__.get("_raw_src") or _inspect.getsourcelines(self.fn)[0]

    @raw_src.setter
    def raw_src(self, lines: list[str]) -> None:
        self.__dict__["_raw_src"] = lines

    @property
    def starting_line_number(self) -> int:
        """The line of the file where `raw_src` begins; or the assigned line."""
        return self.__dict__.get("_starting_line_number") or _inspect.getsourcelines(self.fn)[1]

    @starting_line_number.setter
    def starting_line_number(self, line: int) -> None:
        self.__dict__["_starting_line_number"] = line

    @property
    def file_name(self) -> str:
        """The file of source positions."""
        return self.source.file

    @file_name.setter
    def file_name(self, file: str) -> None:
        self.source = self.source.moved(file=file)
        self.hash = None

    @property
    def def_file_line_number(self) -> int:
        """The line of the `def` in that file, from 1."""
        return self.source.def_line

    @def_file_line_number.setter
    def def_file_line_number(self, line: int) -> None:
        self.source = self.source.moved(def_line=line)
        self.hash = None

    @property
    def def_file_col_number(self) -> int:
        """The column of the `def`, from 1; or the assigned column."""
        return self.__dict__.get("_def_column") or self.source.tree.col_offset + 1

    @def_file_col_number.setter
    def def_file_col_number(self, column: int) -> None:
        self.__dict__["_def_column"] = column
