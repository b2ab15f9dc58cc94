"""String literals as MLIR writes them."""

from __future__ import annotations

import re
from typing import Any

from .patterns import pattern

__all__ = ["PLAIN", "quote", "unescape"]

_escape = pattern(rb'\\(?:([0-9A-Fa-f]{2})|([nt"\\])|(.|$))', re.DOTALL)
_NAMED_ESCAPES = {b"n": b"\n", b"t": b"\t", b'"': b'"', b"\\": b"\\"}


class _Plain(dict[Any, str]):
    """What `spell` is given when everything is to be written out: the text of a part is its own, without aliases."""

    def __missing__(self, part: Any) -> str:
        text: str = part.spell(self)
        return text


PLAIN = _Plain()


def _encoded(text: str) -> bytes:
    """UTF-8, in which lone surrogates stand for the bytes that they were made of."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def quote(text: str) -> str:
    """`text` as an MLIR string literal: quotes, backslashes and bytes outside ASCII are escaped in hex."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    out = []
    for byte in _encoded(text):
        ch = chr(byte)
        if ch == "\\":
            out.append("\\\\")
        elif ch != '"' and 32 <= byte < 127:
            out.append(ch)
        else:
            out.append(f"\\{byte:02X}")
    return '"' + "".join(out) + '"'


def unescape(body: str) -> str:
    """What a string literal says; escapes are `\\n`, `\\t`, `\\"`, `\\\\`, bytes in hex; others raise `ValueError`."""
    if "\\" not in body:
        return body

    def byte(m: re.Match[bytes]) -> bytes:
        if m[3] is not None:
            raise ValueError("a backslash in a string stands before n, t, a quote, itself or two hex digits")
        return bytes([int(m[1], 16)]) if m[1] else _NAMED_ESCAPES[m[2]]

    return _escape.sub(byte, _encoded(body)).decode(errors="surrogateescape")
