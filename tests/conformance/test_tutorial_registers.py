"""The script that counts registers of Triton's tutorial kernels, on a checkout of our own making; and on a real one
where TRITIUM_TEST_CHECKOUT names it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.backends.nvidia.texts import needs_ptxas
from tests.conformance import tutorial_registers as registers
from tests.conformance.test_tutorials import TUTORIAL

pytestmark = needs_ptxas


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TRITIUM_CACHE_DISABLE", "1")
    folder = tmp_path / "python" / "tutorials"
    folder.mkdir(parents=True)
    (folder / "01-adding.py").write_text(TUTORIAL)
    return tmp_path


def test_first_configurations_of_all_kernels_and_the_others() -> None:
    found = registers.configurations()
    names = {one.case.name for one in found}
    assert {"03 matmul_kernel fp16", "06 _attn_bwd", "08 grouped_matmul_kernel"} < names
    assert [sum(one.first for one in found if one.case.name == name) for name in sorted(names)] == [1] * len(names)
    matmul = [one for one in found if one.case.name == "03 matmul_kernel fp16"]
    assert len(matmul) == 16 and matmul[0].label == "128x256x64 8 warps, 3 stages"


def test_descriptors_have_the_blocks_of_the_configuration() -> None:
    found = [one for one in registers.configurations() if one.case.name == "09 matmul_kernel_tma"]
    (wide,) = (one for one in found if one.label == "128x256x64 8 warps, 4 stages")
    assert wide.case.signature["b_desc"] == "tensordesc<fp16[256,64]>"
    assert wide.case.signature["c_desc"] == "tensordesc<fp16[128,256]>"


def test_rows(checkout: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registers, "find_interpreter", lambda: None)
    assert registers.main([str(checkout), "--only", "01", "--targets", "80,90"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4 and all("01 add_kernel" in line for line in lines[1:3])
    assert lines[-1].startswith("0 of those")


def test_a_kernel_that_spills_is_counted(checkout: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registers, "find_interpreter", lambda: None)
    monkeypatch.setattr(registers, "ours", lambda *_: registers.Usage(255, 4, 8, 8, 0, 4))
    assert registers.main([str(checkout), "--only", "01", "--targets", "90"]) == 1
    assert "sm_90 *" in capsys.readouterr().out


@pytest.mark.skipif(
    "TRITIUM_TEST_CHECKOUT" not in os.environ, reason="TRITIUM_TEST_CHECKOUT names no checkout of Triton"
)
@pytest.mark.parametrize("tutorial", ["01", "02", "03", "04", "05", "06", "07", "08", "09", "11"])
def test_no_tutorial_spills(tutorial: str, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the tutorials launch their kernels; those of 10 are for chips that multiply with scales."""
    monkeypatch.setattr(registers, "find_interpreter", lambda: None)
    monkeypatch.setenv("TRITIUM_CACHE_DISABLE", "1")
    status = registers.main([os.environ["TRITIUM_TEST_CHECKOUT"], "--only", tutorial])
    assert status == 0, capsys.readouterr().out
