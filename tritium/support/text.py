"""String literals as MLIR writes them."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["PLAIN", "quote", "unescape"]

_escape = re.compile(rb'\\(?:([0-9A-Fa-f]{2})|([nt"\\]))')
_NAMED_ESCAPES = {b"n": b"\n", b"t": b"\t", b'"': b'"', b"\\": b"\\"}


class _Plain(dict[Any, str]):
    """What `spell` is given when everything is to be written out: the text of a part is its own, without aliases."""

    def __missing__(self, part: Any) -> str:
        text: str = part.spell(self)
        return text


PLAIN = _Plain()


def quote(text: str) -> str:
    """`text` as an MLIR string literal: quotes, backslashes and bytes outside ASCII are escaped in hex."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    out = []
    for byte in text.encode():
        ch = chr(byte)
        if ch == "\\":
            out.append("\\\\")
        elif ch != '"' and 32 <= byte < 127:
            out.append(ch)
        else:
            out.append(f"\\{byte:02X}")
    return '"' + "".join(out) + '"'


def unescape(body: str) -> str:
    """The content of a string literal: escapes are `\\n`, `\\t`, `\\"`, `\\\\` and bytes in hex."""
    if "\\" not in body:
        return body

    def byte(m: re.Match[bytes]) -> bytes:
        return bytes([int(m[1], 16)]) if m[1] else _NAMED_ESCAPES[m[2]]

    return _escape.sub(byte, body.encode()).decode(errors="replace")
