"""MessagePack, as much of it as profiles need: None, bool, int, float, str, list and dict."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

__all__ = ["packed"]

_Heads = Sequence[tuple[int, int, str]]  # (values below this one, code, format of the size)
_STRINGS: _Heads = ((1 << 8, 0xD9, ">BB"), (1 << 16, 0xDA, ">BH"), (1 << 32, 0xDB, ">BI"))
_ARRAYS: _Heads = ((1 << 16, 0xDC, ">BH"), (1 << 32, 0xDD, ">BI"))
_MAPS: _Heads = ((1 << 16, 0xDE, ">BH"), (1 << 32, 0xDF, ">BI"))
_UNSIGNED: _Heads = ((1 << 8, 0xCC, ">BB"), (1 << 16, 0xCD, ">BH"), (1 << 32, 0xCE, ">BI"), (1 << 64, 0xCF, ">BQ"))
_SIGNED: _Heads = ((1 << 7, 0xD0, ">Bb"), (1 << 15, 0xD1, ">Bh"), (1 << 31, 0xD2, ">Bi"), (1 << 63, 0xD3, ">Bq"))


def packed(value: Any) -> bytes:
    """`value` in MessagePack.

    >>> packed({"a": [1, -1, None, True]})
    b'\\x81\\xa1a\\x94\\x01\\xff\\xc0\\xc3'
    """
    if value is None or isinstance(value, bool):
        return b"\xc0" if value is None else b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float):
        return struct.pack(">Bd", 0xCB, value)
    if isinstance(value, str):
        text = value.encode()
        return _head(len(text), 1 << 5, 0xA0, _STRINGS) + text
    if isinstance(value, (list, tuple)):
        return _head(len(value), 1 << 4, 0x90, _ARRAYS) + b"".join(map(packed, value))
    if isinstance(value, dict):
        return _head(len(value), 1 << 4, 0x80, _MAPS) + b"".join(packed(k) + packed(v) for k, v in value.items())
    raise TypeError(f"MessagePack has no {type(value).__name__}")


def _integer(value: int) -> bytes:
    if value >= 0:
        return _head(value, 1 << 7, 0, _UNSIGNED)
    if value >= -(1 << 5):
        return struct.pack("b", value)
    for limit, code, layout in _SIGNED:
        if value >= -limit:
            return struct.pack(layout, code, value)
    raise OverflowError(f"{value} needs more than 64 bits")


def _head(size: int, fixed: int, fixed_code: int, larger: _Heads) -> bytes:
    """The first bytes of something with a size: one byte for sizes below `fixed`."""
    if size < fixed:
        return bytes([fixed_code | size])
    for limit, code, layout in larger:
        if size < limit:
            return struct.pack(layout, code, size)
    raise OverflowError(f"{size} is more than MessagePack can say")
