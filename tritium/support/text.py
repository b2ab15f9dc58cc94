"""String literals in MLIR, LLVM IR and assembly."""

from __future__ import annotations

import re
from typing import Any

from .patterns import pattern

__all__ = ["PLAIN", "encode", "llvm_quote", "quote", "unescape", "unescape_assembly", "with_octal_quotes"]

_escape = pattern(rb'\\(?:([0-9A-Fa-f]{2})|([nt"\\])|(.|$))', re.DOTALL)
_NAMED_ESCAPES = {b"n": b"\n", b"t": b"\t", b'"': b'"', b"\\": b"\\"}


class _Plain(dict[Any, str]):
    """The argument of `spell` for text without aliases: the text of a part is its own."""

    def __missing__(self, part: Any) -> str:
        text: str = part.spell(self)
        return text


PLAIN = _Plain()


def encode(text: str) -> bytes:
    """UTF-8, in which lone surrogates represent the bytes they were decoded from."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def quote(text: str) -> str:
    """`text` as an MLIR string literal: quotes, backslashes and bytes outside ASCII are escaped in hex."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    out = []
    for byte in encode(text):
        ch = chr(byte)
        if ch == "\\":
            out.append("\\\\")
        elif ch != '"' and 32 <= byte < 127:
            out.append(ch)
        else:
            out.append(f"\\{byte:02X}")
    return '"' + "".join(out) + '"'


def unescape(body: str) -> str:
    """The value of a string literal; escapes are `\\n`, `\\t`, `\\"`, `\\\\`, bytes in hex; others raise
    `ValueError`."""
    if "\\" not in body:
        return body

    def byte(m: re.Match[bytes]) -> bytes:
        if m[3] is not None:
            raise ValueError(
                "invalid escape in a string: a backslash precedes n, t, a quote, a backslash or two hex digits"
            )
        return bytes([int(m[1], 16)]) if m[1] else _NAMED_ESCAPES[m[2]]

    return _escape.sub(byte, encode(body)).decode(errors="surrogateescape")


def llvm_quote(text: str) -> str:
    """`text` as a string in LLVM IR: quotes, backslashes and bytes outside ASCII are escaped in hex.

    >>> llvm_quote('a"b')
    '"a\\\\22b"'
    """
    plain = "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in encode(text))
    return f'"{plain}"'


_assembly_escape = pattern(rb"\\(?:([0-7]{1,3})|(.))", re.DOTALL)
_ASSEMBLY_NAMED = {b"n": b"\n", b"t": b"\t", b"b": b"\b", b"f": b"\f", b"r": b"\r"}


def unescape_assembly(body: str) -> str:
    """The text of a string in assembly: escapes are `\\n`, `\\t`, `\\b`, `\\f`, `\\r`, and bytes in octal.

    >>> unescape_assembly(r"a\\042b\\303\\251")
    'a"bé'
    """
    if "\\" not in body:
        return body

    def byte(m: re.Match[bytes]) -> bytes:
        return bytes([int(m[1], 8) & 255]) if m[1] else _ASSEMBLY_NAMED.get(m[2], m[2])

    return _assembly_escape.sub(byte, encode(body)).decode(errors="surrogateescape")


_file_line = pattern(r"^[ \t]*\.file\b.*$", re.M)
_escaped_quote = pattern(r'(?<!\\)((?:\\\\)*)\\"')


def with_octal_quotes(assembly: str) -> str:
    """PTX whose `.file` directives spell quotes in octal: ptxas ends a string at any quote.

    >>> with_octal_quotes(r'.file 1 "a\\"b"')
    '.file 1 "a\\\\042b"'
    """
    if '\\"' not in assembly:
        return assembly
    return _file_line.sub(lambda m: _escaped_quote.sub(r"\1\\042", m[0]), assembly)
