"""Kernels launched on an emulated AMD GPU, with arrays of the CPU."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium.emulator import OutOfBounds
from tritium.runtime import driver
from tritium.runtime.emulated_hip import EmulatedHIPDriver
from tritium.support import OptionError


@tritium.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask), mask=mask)


@tritium.jit
def row_sums(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * columns + offsets, mask=offsets < columns, other=0.0)
    tl.store(out_ptr + tl.program_id(0), tl.sum(x, axis=0))


@pytest.fixture(params=["gfx942", "gfx1100"])
def gpu(request):
    emulated = EmulatedHIPDriver(request.param)
    driver.set_active(emulated)
    yield emulated
    driver.reset_active()


def test_arrays_of_numpy(gpu):
    x, y, out = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32), np.zeros(1000, np.float32)
    for _ in range(2):
        kernel = add_kernel[(8,)](x, y, out, 1000, BLOCK=128)
    np.testing.assert_array_equal(out, x + 1)
    assert "amdgcn" in kernel.asm and gpu.last_report.blocks == 8
    assert gpu.get_current_device() == f"emulated:{gpu.target.arch}"


def test_reduction_through_lds(gpu):
    x, out = np.arange(4 * 300, dtype=np.float32).reshape(4, 300), np.full(4, np.nan, np.float32)
    row_sums[(4,)](x, out, 300, BLOCK=512)
    np.testing.assert_array_equal(out, x.sum(axis=1))


@pytest.mark.torch
def test_tensors_of_torch(gpu):
    import torch

    for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.int64):
        x, y = torch.arange(300, dtype=dtype), torch.ones(300, dtype=dtype)
        out = torch.zeros_like(x)
        add_kernel[(3,)](x, y, out, 300, BLOCK=128)
        assert torch.equal(out, x + y)


def test_access_outside_of_an_array_names_the_source_line(gpu):
    x, y, out = np.zeros(1000, np.float32), np.zeros(1000, np.float32), np.zeros(900, np.float32)
    with pytest.raises(OutOfBounds, match=r"workgroup 7: writes .* after the end of out_ptr") as caught:
        add_kernel[(8,)](x, y, out, 1000, BLOCK=128)
    assert "AMDGCN line" in str(caught.value) and "tl.store(out_ptr + offsets" in str(caught.value)


def test_target_by_environment():
    script = "from tritium.runtime import driver; print(driver.active.get_current_target())"
    for name, want in (("gfx942", "'gfx942', warp_size=64"), ("gfx1100", "'gfx1100', warp_size=32")):
        environment = {**os.environ, "TRITIUM_TARGET": f"emulated:{name}"}
        done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
        assert want in done.stdout, done.stderr


def test_unknown_gpu_is_refused():
    with pytest.raises(OptionError, match="gfx942"):
        EmulatedHIPDriver("mi300")
