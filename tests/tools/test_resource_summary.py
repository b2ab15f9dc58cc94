"""The line on resources: singular and plural, zeros left out, of a CPU's kernel only what CPUs have."""

from __future__ import annotations

import pytest

from tritium.tools.resource_summary import resource_summary

CASES = {
    "no spills": (
        {"n_regs": 26, "n_spills": 0, "stack_size": 0, "shared": 0, "num_warps": 4},
        "26 registers/thread, no spills, 4 warps",
    ),
    "spills": (
        {"n_regs": 255, "n_spills": 1, "stack_size": 8, "shared": 98304, "num_warps": 1},
        "255 registers/thread, 1 register/thread spilled, 8 bytes of stack/thread, 98,304 bytes of shared memory, 1 warp",
    ),
    "up to ttgir": ({"shared": 1024, "num_warps": 8}, "1,024 bytes of shared memory, 8 warps"),
    "CPU": ({"shared": 8192, "scratch_bytes": 8192, "num_warps": 4, "n_regs": 32}, "8,192 bytes of scratch memory"),
    "CPU without scratch": ({"shared": 0, "scratch_bytes": 0}, ""),
    "nothing": ({}, ""),
}


@pytest.mark.parametrize("name", CASES)
def test_resource_summary(name: str) -> None:
    found, wanted = CASES[name]
    assert resource_summary(found) == wanted
