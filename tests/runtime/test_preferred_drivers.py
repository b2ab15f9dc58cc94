"""Drivers that `triton.backends.backends` lists are preferred when they are made active; arrays still say where they are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tritium.backends.nvidia import device as devices
from tritium.runtime.arrays import HOST
from tritium.runtime.cpu_driver import CPUDriver, PreferredCPU
from tritium.runtime.cuda import CUDADriver, PreferredCUDA
from tritium.runtime.driver_config import DriverConfig

ROOT = Path(__file__).resolve().parents[2]


class _OneGPU:
    target = "sm_90"


def test_arrays_say_where_they_are_used(monkeypatch) -> None:
    monkeypatch.setattr(devices, "device", lambda number: _OneGPU)
    monkeypatch.setattr(devices, "current_device", lambda: 0)
    config = DriverConfig()
    for preferred, kind in ((PreferredCPU, CPUDriver), (PreferredCUDA, CUDADriver), (PreferredCPU, CPUDriver)):
        config.set_active(preferred())
        assert type(config.active) is kind and type(config.serving(None).driver) is kind
        assert type(config.serving(HOST).driver) is CPUDriver
        place = config.serving(0)
        assert type(place.driver) is CUDADriver and (place.device, place.target) == (0, "sm_90")


def test_one_that_is_preferred_already_changes_nothing() -> None:
    config = DriverConfig()
    config.set_active(PreferredCPU())
    found = config.active
    config.set_active(PreferredCPU())
    assert config.active is found is config.cpu


SCRIPT = """
import tritium
tritium.install()
import triton.backends
listed = triton.backends.backends
assert [name for name, backend in listed.items() if backend.driver.is_active() and name not in ("cpu", "nvidia")] == []
assert listed["cpu"].driver is not listed["nvidia"].driver
print(issubclass(listed["nvidia"].driver, tritium.runtime.cuda.CUDADriver), listed["cpu"].driver.is_active())
"""


def test_every_backend_lists_its_own() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.split() == ["True", "True"], done.stderr
