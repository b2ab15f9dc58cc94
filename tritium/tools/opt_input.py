"""What `tritium opt` reads: a file or standard input, whole or in pieces."""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Iterator
from typing import NamedTuple

from ..support import TritiumError

__all__ = ["InputError", "Piece", "pieces_of", "read_input", "write_output"]


class InputError(TritiumError):
    """A file that cannot be read as text."""


class Piece(NamedTuple):
    """A part of a file, and the number of its first line there."""

    text: str
    filename: str
    first_line: int = 1


def read_input(path: str) -> tuple[str, str]:
    """The text of a file ("-": standard input) and how messages call it; `InputError` if there is none."""
    name = "<stdin>" if path == "-" else path
    try:
        if path == "-":
            data = sys.stdin.buffer.read()
        else:
            with open(path, "rb") as f:
                data = f.read()
    except OSError as error:
        raise InputError(f"cannot read '{name}': {(error.strerror or str(error)).lower()}") from None
    text = _decoded(data, name)
    if path == "-":  # so that messages can show its lines
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    return text, name


def _decoded(data: bytes, name: str) -> str:
    if data.startswith(b"ML\xefR"):
        raise InputError(f"'{name}' is MLIR bytecode, which is not read here: print it as text first")
    at = data.find(b"\0")
    if at < 0:
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            at = error.start
    line = data.count(b"\n", 0, at) + 1
    raise InputError(f"'{name}' is no text: byte 0x{data[at]:02x} at offset {at}, line {line}")


def pieces_of(text: str, filename: str, marker: str | None) -> Iterator[Piece]:
    """The parts of a text between lines that are `marker`; all of it without one."""
    if marker is None:
        yield Piece(text, filename)
        return
    line = 1
    at = 0
    for m in re.finditer(rf"^{re.escape(marker)}[ \t]*$\n?", text, re.MULTILINE):
        yield Piece(text[at : m.start()], filename, line)
        line += text.count("\n", at, m.end())
        at = m.end()
    yield Piece(text[at:], filename, line)


def write_output(path: str | None, text: str) -> None:
    """Write `text` to a file, or to standard output; `InputError` if it cannot be."""
    if path is None or path == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    try:
        with open(path, "w") as f:
            f.write(text)
    except OSError as error:
        raise InputError(f"cannot write '{path}': {(error.strerror or str(error)).lower()}") from None
