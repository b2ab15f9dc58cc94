"""Words of bytes on AMD GPUs: by permutations where a 4 x 4 transpose makes them."""

from __future__ import annotations

import re

import pytest

from tritium.conversion.ttg_to_llvm.amd.byte_transpose import transposed_word
from tritium.conversion.ttg_to_llvm.amd.target import AMDTarget
from tritium.conversion.ttg_to_llvm.context import FunctionContext
from tritium.conversion.ttg_to_llvm.target_info import ModuleContext


def perm(high: bytes, low: bytes, selector: int) -> bytes:
    """v_perm_b32 (RDNA 3 instruction set reference, section 16.12): bytes 0 to 3 of `low`, 4 to 7 of `high`."""
    return bytes((low + high)[selector >> 8 * i & 0xFF] for i in range(4))


@pytest.mark.parametrize("byte", range(4))
def test_transposed_word_has_the_bytes_of_four_words(byte: int) -> None:
    e = FunctionContext(ModuleContext(AMDTarget("gfx1100", 32)), "@global_smem")
    values = {f"%w{i}": bytes(range(4 * i, 4 * i + 4)) for i in range(4)}
    words = {tuple(f"%b{i}{k}" for k in range(4)): f"%w{i}" for i in range(4)}
    word = transposed_word(e, [f"%b{i}{byte}" for i in range(4)], words)
    for line in e.lines:
        result, high, low, selector = re.search(
            r"(%\w+) = .*perm\(i32 (%\w+), i32 (%\w+), i32 (-?\d+)\)", line
        ).groups()  # type: ignore[union-attr]
        values[result] = perm(values[high], values[low], int(selector))
    assert word is not None and values[word] == bytes(4 * i + byte for i in range(4))


def test_bytes_of_different_places_are_no_transpose() -> None:
    e = FunctionContext(ModuleContext(AMDTarget("gfx1100", 32)), "@global_smem")
    words = {tuple(f"%b{i}{k}" for k in range(4)): f"%w{i}" for i in range(4)}
    assert transposed_word(e, ["%b00", "%b11", "%b20", "%b30"], words) is None
    assert transposed_word(e, ["%b00", "%b10", "%b20", "%x"], words) is None
    assert e.target.word_of_bytes(e, ["%b00", "%b10", "%b20", "%x"], words).startswith("%")
