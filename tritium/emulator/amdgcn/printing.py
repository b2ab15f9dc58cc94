"""HIP's buffered printf: the buffer that the runtime passes in a hidden argument, and what it prints afterwards.

The buffer begins with the bytes in use and the bytes available (u32 each). A frame is a control word (its bytes * 4, 2
for a format that metadata has, 1 for stderr), the hash of the format (u64), and an u64 for each operand. The metadata
has formats as "0:0:<hash>,<format>". Sources: ROCm's `rocclr/device/rocm/rocprintf.cpp` and `devhcprintf.cpp`.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence

import numpy as np

from ..errors import DeviceAssertion, DeviceTrap, LaunchError
from ..memory import Memory

__all__ = ["PrintBuffer", "assertion_of", "formats_of"]

#: As in HIP (`printfBufferSize_` of its device information).
BUFFER_BYTES = 4 << 20
_CONVERSION = re.compile(r"%[-+ #0]*\d*(?:\.\d+)?(hh|h|ll|l|j|z|t|L)?([diouxXfFeEgGaAcsp%])")
_ASSERTION = re.compile(r"(.*):(\d+): (.*?): pid \((\d+), (\d+), (\d+)\): assertion failed: (.*)\n", re.S)


def formats_of(lines: Sequence[str]) -> dict[int, str]:
    """The formats of `amdhsa.printf` by hash, as ROCm reads them: the text after two fields that are 0."""
    formats = {}
    for line in lines:
        _, _, rest = line.partition(":")
        _, _, rest = rest.partition(":")
        key, _, text = rest.partition(",")
        formats[int(key, 16)] = text
    return formats


class PrintBuffer:
    """The buffer of a launch. `text(stream)` is what its frames print, 1 being stderr."""

    def __init__(self, formats: Mapping[int, str], memory: Memory, size: int = BUFFER_BYTES) -> None:
        self.formats = formats
        self.data = np.zeros(size, np.uint8)
        self.data[4:8].view(np.uint32)[0] = size - 8
        self.address = memory.place(self.data, "the printf buffer")

    def frames(self) -> list[tuple[int, str]]:
        """(stream, text) of each frame, in their order."""
        data = self.data.tobytes()
        used = int.from_bytes(data[:4], "little")
        at, out = 8, []
        while at < used + 8:
            (control,) = struct.unpack_from("<I", data, at)
            size = control >> 2
            if size < 12 or size % 8 != 4 or at + size > used + 8 or not control & 2:
                raise LaunchError(f"the printf buffer has a damaged frame at byte {at - 8}")
            key, *operands = struct.unpack_from(f"<{(size - 4) // 8}Q", data, at + 4)
            if key not in self.formats:
                raise LaunchError(f"the printf buffer names the format {key:x}, which the code object does not have")
            out.append((control & 1, formatted(self.formats[key], operands)))
            at += size
        return out

    def text(self, stream: int) -> list[str]:
        """What one stream prints."""
        return [text for at, text in self.frames() if at == stream]


def formatted(template: str, operands: Sequence[int]) -> str:
    """C's printf on operands of 64 bits each."""
    values = iter(operands)

    def one(m: re.Match[str]) -> str:
        kind = m[2]
        if kind == "%":
            return "%"
        bits = next(values)
        spec = m[0].replace(m[1], "", 1) if m[1] else m[0]
        if kind in "eEfFgGaA":
            return str(spec % struct.unpack("<d", struct.pack("<Q", bits)))
        if kind == "p":
            return f"{bits:#x}"
        width = 64 if m[1] in ("ll", "l", "j", "z", "t") else 32
        bits &= (1 << width) - 1
        if kind in "di":
            bits -= bits >> width - 1 << width
        return str(spec.replace("u", "d") % (chr(bits) if kind == "c" else bits))

    return _CONVERSION.sub(one, template)


def assertion_of(trap: DeviceTrap, buffer: PrintBuffer | None) -> DeviceAssertion | None:
    """The assertion that a kernel wrote to stderr before it executed `s_trap`; None if it wrote none."""
    texts = buffer.text(1) if buffer is not None else []
    found = _ASSERTION.fullmatch(texts[0]) if texts else None
    if found is None:
        return None
    x, y, z = (int(found[i]) for i in (4, 5, 6))
    where = f"workgroup ({x}, {y}, {z})"
    return DeviceAssertion(found[7], found[1], int(found[2]), found[3], where, trap.instruction, (x, y, z))
