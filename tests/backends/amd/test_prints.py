"""Prints and assertions of AMD GPUs: HIP's buffered printf, as metadata describe it and the emulator reads it."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.backends.amd.test_inline_assembly import emulated  # noqa: F401 - a fixture
from tritium.backends.amd.code_object import metadata_of
from tritium.backends.amd.elf import parse_elf
from tritium.runtime.driver import driver
from tritium.runtime.errors import DeviceAssertError

LANES = {"gfx942": 64, "gfx1100": 32}


@tritium.jit
def printing(x, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + at)
    tl.device_print('100% of "x": ', v)
    tl.device_print("two", at * 1000000007, v.to(tl.float64))
    tl.device_print("hex", at.to(tl.int64) - 1, hex=True)
    tl.device_print("scalar", tl.program_id(0) - 1)
    tl.device_print("only text")


@tritium.jit(debug=True)
def asserting(x, o, B: tl.constexpr):
    v = tl.load(x + tl.program_id(0) * B + tl.arange(0, B))
    tl.device_assert(v < 5, "less than 5%")
    tl.store(o + tl.program_id(0) * B + tl.arange(0, B), v)


def test_prints_of_tensors_and_scalars(emulated: str, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: F811
    x = np.array([-1.5, 0, 2.25, np.inf], np.float32)
    kernel = printing[(2,)](x, 4, num_warps=1)
    lines = Counter(capsys.readouterr().out.splitlines())
    wanted: Counter[str] = Counter()
    for pid in range(2):
        where = f"pid ({pid}, 0, 0)"
        for i, value in enumerate(["-1.500000", "0.000000", "2.250000", "inf"]):
            whole = np.int32(np.int64(i * 1000000007).astype(np.int32))
            wanted[f'{where} idx ({i}) 100% of "x": {value}'] = 1
            wanted[f"{where} idx ({i}) two: (operand 0) {whole}"] = 1
            wanted[f"{where} idx ({i}) two: (operand 1) {value}"] = 1
            wanted[f"{where} idx ({i}) hex: 0x{(i - 1) & (1 << 64) - 1:016x}"] = 1
        wanted[f"{where} idx () scalar: {pid - 1}"] = wanted[f"{where} only text"] = LANES[emulated]
    assert lines == wanted
    assert driver.active.last_report.output.count("\n") == sum(wanted.values())
    metadata = metadata_of(parse_elf(kernel.asm["hsaco"]))
    formats = metadata["amdhsa.printf"]
    assert isinstance(formats, list) and len(formats) == 6
    assert all(re.fullmatch(r"(?s)0:0:[0-9a-f]{1,16},pid \(%u, %u, %u\).*\n", str(text)) for text in formats)
    (entry,) = metadata["amdhsa.kernels"]  # type: ignore[misc, union-attr]
    assert any(row[".value_kind"] == "hidden_printf_buffer" for row in entry[".args"])  # type: ignore[index]


def test_frames_beyond_the_buffer_are_dropped(
    emulated: str,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tritium.emulator.amdgcn.printing.PrintBuffer.__init__.__defaults__", (8 + 10 * 52,))
    printing[(1,)](np.zeros(64, np.float32), 64, num_warps=1)
    assert 10 <= len(capsys.readouterr().out.splitlines()) <= 14


def test_false_assertion_names_message_line_and_program(emulated: str) -> None:  # noqa: F811
    x, out = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    asserting[(1,)](x, out, 4)
    np.testing.assert_array_equal(out[:4], x[:4])
    with pytest.raises(
        DeviceAssertError, match=r"test_prints\.py:\d+:\d+: asserting: workgroup \(1, 0, 0\): .*5%"
    ) as e:
        asserting[(2,)](x, out, 4)
    assert "s_trap" in str(e.value)
