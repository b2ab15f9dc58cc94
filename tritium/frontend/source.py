"""Source of a Python function: read from its file once, extracted without a tokenizer, parsed on demand."""

from __future__ import annotations

import ast
import linecache
import os
from types import FunctionType

from ..support import TritiumError, settings
from ..support.files import source_lines
from ..support.patterns import pattern

__all__ = ["SourceError", "SourceText", "stable_path"]

_DEF = pattern(r"\s*(async\s+)?def\s")
_ASYNC = pattern(r"\s*async\s")
# IPython names a cell by process id or execution count, which change, and by a hash of its text
_CELL = pattern(r"(?<=[/\\])(ipykernel)_\d+(?=[/\\])|(?<=^<)(ipython-input)-\d+(?=-)")
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class SourceError(TritiumError, OSError):
    """The source text of a function cannot be found."""


class SourceText:
    """The source text of a function and its position.

    The lines of the file are read when the object is constructed, so that editing the file while the program runs has
    no effect; the function is extracted and parsed on first use.

    Attributes: `file`, `shown_file` (its path in source positions of compiled code), `first_line` (of the first
    decorator or the `def`, 1-based), `lines` (of the whole file), `name` (of the function).
    """

    __slots__ = ("_block", "_shown", "_tree", "file", "first_line", "lines", "name")

    def __init__(self, fn: FunctionType) -> None:
        code = fn.__code__
        self.file = code.co_filename
        self._shown: str | None = None
        self.first_line = code.co_firstlineno
        self.name = code.co_name
        linecache.checkcache(self.file)
        self.lines = source_lines(self.file, fn.__globals__)
        self._block: list[str] | None = None
        self._tree: ast.FunctionDef | None = None

    @property
    def block(self) -> list[str]:
        """The lines of the function in the file, with decorators; SourceError without source."""
        if self._block is None:
            self._find()
        assert self._block is not None
        return self._block

    @property
    def shown_file(self) -> str:
        """The path of the file in source positions of compiled code, see `stable_path`."""
        if self._shown is None:
            self._shown = stable_path(self.file)
            if self._shown != self.file:  # debuggers and tracebacks look lines up by this name
                linecache.cache.setdefault(self._shown, (sum(map(len, self.lines)), None, self.lines, self.file))
        return self._shown

    @property
    def tree(self) -> ast.FunctionDef:
        """The syntax tree; its line and column numbers are those of the file."""
        if self._tree is None:
            self._find()
        assert self._tree is not None
        return self._tree

    @property
    def def_line(self) -> int:
        """The line of the `def` keyword, from 1."""
        return self.tree.lineno

    @property
    def position(self) -> str:
        """The position of the `def` as locations in compiled code state it, "file:line:column", from 1."""
        return f"{self.shown_file}:{self.def_line}:{self.tree.col_offset + 1}"

    @property
    def line_count(self) -> int:
        """The number of lines from the `def` on."""
        return len(self.block) - (self.def_line - self.first_line)

    @property
    def text(self) -> str:
        """The function from its `def` on, without the indentation of that line."""
        lines = self.block[self.def_line - self.first_line :]
        margin = lines[0][: _indentation(lines[0])]
        return "".join(line.removeprefix(margin) for line in lines) if margin else "".join(lines)

    def replaced(self, text: str) -> SourceText:
        """Another definition, `text`, at the same position; SyntaxError unless it is one function."""
        new = SourceText.__new__(SourceText)
        new.file, new.first_line, new.name, new._shown = self.file, self.def_line, self.name, None
        block = text.splitlines(keepends=True)
        new.lines = ["\n"] * (new.first_line - 1) + block
        new._block, new._tree = block, _parse(block, new.first_line, _indentation(text))
        if new._tree is None:
            raise SyntaxError("the new source is not one function definition")
        return new

    def moved(self, file: str | None = None, def_line: int | None = None) -> SourceText:
        """The same definition at another position: in `file`, with its `def` at `def_line` (where given)."""
        new = SourceText.__new__(SourceText)
        new.file, new.name, new._shown = self.file if file is None else file, self.name, None
        above = self.def_line - self.first_line  # decorators
        new.first_line = max(1, self.first_line if def_line is None else def_line - above)
        new.lines = ["\n"] * (new.first_line - 1) + self.block
        new._block, new._tree = self.block, _parse(self.block, new.first_line, _indentation(self.block[0]))
        return new

    def _find(self) -> None:
        """End the block at the first line indented no deeper than the `def` that leaves a complete function before it.

        A line at that depth which continues a bracket or a string makes the text before it a syntax error, so the
        parser itself finds the end of the function.
        """
        start = self.first_line - 1
        if start >= len(self.lines):
            raise SourceError(
                f"the source of {self.name}, defined in {self.file}, cannot be read\n"
                "hint: define kernels in a file; what a program generates can be written to one and imported"
            )
        depth = _indentation(self.lines[start])
        seen_def = False
        for end in range(start, len(self.lines) + 1):
            if end < len(self.lines):
                line = self.lines[end]
                if not seen_def:
                    seen_def = _DEF.match(line) is not None
                    continue
                if _indentation(line) > depth or not line.strip() or line.lstrip().startswith("#"):
                    continue
            elif not seen_def:
                break
            block = self.lines[start:end]
            tree = _parse(block, self.first_line, depth)
            if tree is not None:
                while not block[-1].strip() or block[-1].lstrip().startswith("#"):
                    block.pop()
                self._block, self._tree = block, tree
                return
        position = f"{self.file}:{self.first_line}:{depth + 1}: error:"
        definition = next(filter(_DEF.match, self.lines[start:]), "")
        if _ASYNC.match(definition):
            raise SourceError(f"{position} {self.name} is async: a kernel is a plain function")
        if self.name == "<lambda>":
            raise SourceError(
                f"{position} a lambda cannot be a kernel\nhint: define a function with `def`, and put @jit above it"
            )
        raise SourceError(
            f"{position} the definition of {self.name} was not found there\n"
            "hint: the file may have changed since it was imported"
        )


def stable_path(file: str) -> str:
    """The path of a Python file in source positions of compiled code: the same on every machine if possible.

    Paths of this package start at its folder, those below the setting `compilation.source_root` are relative to it;
    cells of a notebook are named without process id and execution count.
    """
    root = settings.compilation.source_root
    for folder, kept in ((_PACKAGE, os.path.basename(_PACKAGE)), (os.path.abspath(root) if root else "", "")):
        if folder and file.startswith(folder + os.sep):
            return os.path.join(kept, os.path.relpath(file, folder))
    return _CELL.sub(lambda m: m[1] or m[2], file)


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _parse(block: list[str], first_line: int, depth: int) -> ast.FunctionDef | None:
    """The definition in `block` with positions of the file, or None if the text is not complete."""
    text = "".join(block)
    blanks = "\n" * (first_line - 1)
    if depth:  # an indented block needs an enclosing statement
        blanks = blanks[:-1] + "if 1:\n"
    try:
        module = ast.parse(blanks + text)
    except SyntaxError:
        return None
    body = module.body[0].body if depth else module.body  # type: ignore[attr-defined]
    node = body[0] if body else None
    return node if isinstance(node, ast.FunctionDef) else None
