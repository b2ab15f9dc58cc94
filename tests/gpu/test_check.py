"""`tritium check` with the GPU of this machine: the machine code runs there, and what differs is found."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritium
from tests.tools.check.kernels import by_descriptors, counted, distance, row_max
from tritium.backends.nvidia import stages
from tritium.runtime import TensorDescriptor
from tritium.runtime.driver import driver
from tritium.tools.check.report import render

pytestmark = pytest.mark.gpu
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> str:
    """The real one only."""
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path / "cache"))
    return "cuda"


def vectors(n: int = 300) -> list[np.ndarray]:
    rng = np.random.default_rng(n)
    return [rng.random(n, np.float32), rng.random(n, np.float32), np.zeros(n, np.float32)]


def on_hardware(report: Any) -> str:
    return next(v.verdict for v in report.verdicts if v.step.startswith("cubin, on "))


def test_arrays_of_the_cpu_are_copied_there() -> None:
    report = tritium.check(distance, *vectors(), 300, B=128, grid=(3,), target="cuda")
    assert report, render(report)
    assert on_hardware(report) in ("same", "within tolerance") and report.poisoned == ["o"]


def test_what_is_read_as_well_keeps_its_contents() -> None:
    x = np.arange(16, dtype=np.int32)
    report = tritium.check(counted, x, 11, grid=1, target="cuda")
    assert report and on_hardware(report) == "same", render(report)
    assert (x == np.arange(16)).all()


@pytest.mark.torch
def test_tensors_of_the_gpu_are_copied() -> None:
    import torch

    tensors = [torch.from_numpy(x).cuda() for x in vectors()]
    report = tritium.check(distance, *tensors, 300, B=128, grid=(3,))
    assert report and on_hardware(report) in ("same", "within tolerance"), render(report)
    assert not tensors[2].any(), "nothing is written to what was given"


def test_descriptors_are_made_anew() -> None:
    rng = np.random.default_rng(2)
    a, b, c = (rng.standard_normal((64, k)).astype(np.float16) for k in (128, 128, 64))
    maps = [TensorDescriptor(x, list(x.shape), [x.shape[1], 1], [64, k]) for x, k in ((a, 32), (b, 32), (c, 64))]
    report = tritium.check(by_descriptors, *maps, 128, grid=1, target="cuda", N=64, BK=32, SPECIALIZE=False)
    assert report, render(report)


def test_wrong_code_is_found_on_hardware(monkeypatch: pytest.MonkeyPatch) -> None:
    """The assembler is given other PTX than what the compiler made, so that the emulator finds nothing wrong."""
    make = stages.Build.make_cubin

    def other(self: Any, ptx: Any, metadata: Any) -> Any:
        return make(self, ptx.replace("sub.f32", "add.f32").replace("sub.rn.f32", "add.rn.f32"), metadata)

    monkeypatch.setattr(stages.Build, "make_cubin", other)
    x, y, o = vectors()
    report = tritium.check(distance, x, y, o, 300, B=128, grid=(3,), target="cuda")
    assert not report and report.finding.step.startswith("cubin, on "), render(report)
    assert report.finding.difference.element == "o[0]"
    assert report.verdicts[-1].step == "ptx, emulated" and report.verdicts[-1].verdict in ("same", "within tolerance")


def test_what_is_written_beside_arrays_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    make = stages.Build.make_cubin

    def unmasked(self: Any, ptx: Any, metadata: Any) -> Any:
        return make(self, re.sub(r"@%p\d+ st\.global", "st.global", ptx), metadata)

    monkeypatch.setattr(stages.Build, "make_cubin", unmasked)
    report = tritium.check(distance, *vectors(), 300, B=128, grid=(3,), target="cuda")
    assert not report and "bytes are written beside o, the first 1200 from its start" in report.finding.message


SCRIPT = """
import torch
import tritium
import tritium.language as tl


@tritium.jit
def halves(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, tl.load(x_ptr + at, mask=at < n) / 2, mask=at < n)


x = torch.arange(100.0, device="cuda")
halves[(2,)](x, 100, BLOCK=64)
print(x.sum().item())
"""


@pytest.mark.torch
def test_a_script_of_the_gpu(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "tritium", "check", str(script), "--verbose"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "cubin, on " in done.stdout and "2475.0" in done.stdout


def test_reductions_run_there() -> None:
    x = np.random.default_rng(4).random((3, 20), np.float32)
    report = tritium.check(row_max, x, np.zeros(3, np.float32), 20, B=32, grid=3, target="cuda")
    assert report and on_hardware(report) == "same", render(report)
    assert driver.active.get_current_target().backend == "cuda"
