"""The parameters of the kernels in a cubin (ELF).

A section `.nv.info.<kernel>` is a list of attributes: a byte for the format, one for which it is, and two for the value
or, in the format SVAL, for the number of bytes that follow.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from ...support.errors import InternalError

__all__ = ["parameter_base"]

_SVAL = 4
_PARAM_CBANK = 0x0A  # the symbol, then offset and size of the parameters in the constant bank
_HEADER = struct.Struct("<IIQQQQIIQQ")


def parameter_base(cubin: bytes, kernel: str) -> int:
    """The offset in the constant bank at which a kernel's parameters begin: what their alignment counts from.

    It is 0x210 on sm_90, so that a tensor map, which is aligned to 64 bytes, stands at 48 where it is the first one.
    """
    for attribute, data in _attributes(_section(cubin, f".nv.info.{kernel}")):
        if attribute == _PARAM_CBANK:
            return struct.unpack_from("<IH", data)[1]  # type: ignore[no-any-return]
    raise InternalError(f"{kernel}: the cubin does not say where its parameters are")


def _section(elf: bytes, name: str) -> bytes:
    """The contents of a section, empty where there is none of the name."""
    (table,) = struct.unpack_from("<Q", elf, 0x28)
    size, count, names = struct.unpack_from("<HHH", elf, 0x3A)
    rows = [_HEADER.unpack_from(elf, table + n * size) for n in range(count)]
    strings = rows[names][4]
    wanted = name.encode() + b"\0"
    for row in rows:
        if elf.startswith(wanted, strings + row[0]):
            return elf[row[4] : row[4] + row[5]]
    return b""


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The attributes of a section, with what follows them."""
    at = 0
    while at + 4 <= len(data):
        kind, attribute, size = struct.unpack_from("<BBH", data, at)
        more = size if kind == _SVAL else 0
        yield attribute, data[at + 4 : at + 4 + more]
        at += 4 + more
