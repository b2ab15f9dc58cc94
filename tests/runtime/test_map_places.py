"""Where tensor maps stand among a kernel's parameters."""

from __future__ import annotations

from typing import Any

from tritium.runtime.packing import Packer, Parameters


def test_a_map_in_front_is_aligned_as_the_constant_bank_is() -> None:
    """Parameters begin at 0x210 on sm_90: a map of 64-byte alignment stands at 48, also where nothing is before it."""
    encoders: Any = [object()]
    packer = Packer(["d"], ["tensordesc<u32[16, 32]>"], Parameters(attributes=True, base=0x210), encoders)
    assert packer.size == 48 + 128 + 2 * 4 + 2 * 8 + 16  # the map, its extents and strides, addresses of scratch
    assert Packer(["d"], ["tensordesc<u32[16, 32]>"], Parameters(attributes=True), encoders).size == packer.size - 48
