"""Pipelined loops on an emulated Ampere GPU (tests/e2e/overlapping.py; Hopper's run in tests/gpu)."""

from __future__ import annotations

import pytest

from tests.e2e.overlapping import CASES, check
from tritium.runtime.driver import driver
from tritium.runtime.emulated import EmulatedCUDADriver


@pytest.mark.parametrize("trips", [0, 1, 2, 5])
@pytest.mark.parametrize("case", CASES)
def test_pipelined_loops_on_ampere(case: str, trips: int, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path))
    driver.set_active(EmulatedCUDADriver(80))
    try:
        check(case, trips)
    finally:
        driver.reset_active()


@pytest.mark.parametrize("case", ["gathered", "both ways", "branches"])
def test_addresses_are_rematerialized_under_high_pressure(case: str, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where dots leave few registers."""
    monkeypatch.setattr("tritium.conversion.ttg_to_llvm.module.HIGH_PRESSURE", -1)
    test_pipelined_loops_on_ampere(case, 5, tmp_path, monkeypatch)


@pytest.mark.parametrize("trips", [0, 5])
@pytest.mark.parametrize("case", CASES)
def test_values_are_rematerialized_after_loops(
    case: str, trips: int, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where dots leave few registers: positions after a loop are computed from a thread ID read there.

    All loops are treated as loops of high register pressure, and the last one as one that another follows.
    """
    loops = "tritium.transforms.ttgir.memory.rematerialize_after_loops._high_pressure_loops"
    monkeypatch.setattr(loops, lambda func, warps: [op for op in func.regions[0].entry if op.name == "scf.for"])
    test_pipelined_loops_on_ampere(case, trips, tmp_path, monkeypatch)
