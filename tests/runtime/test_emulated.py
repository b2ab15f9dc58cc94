"""Kernels launched on an emulated GPU: the same calls as on a real one, with arrays of the CPU."""

from __future__ import annotations

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium.emulator import OutOfBounds
from tritium.runtime import ArgumentError, DeviceAssertError, TensorDescriptor, driver
from tritium.runtime.emulated import EmulatedCUDADriver


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


@tritium.jit
def careful(x_ptr, limit):
    x = tl.load(x_ptr + tl.program_id(0))
    tl.device_assert(x < limit, "too much")
    tl.device_print("x =", x)


@tritium.jit
def copy_block(descriptor, out_ptr, row, column):
    block = descriptor.load([row, column])
    at = tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :]
    tl.store(out_ptr + at, block)


@pytest.fixture(params=[80, 90])
def gpu(request):
    emulated = EmulatedCUDADriver(request.param)
    driver.set_active(emulated)
    yield emulated
    driver.reset_active()


def test_arrays_of_numpy(gpu):
    x, y, out = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32), np.zeros(1000, np.float32)
    for _ in range(2):
        kernel = add_kernel[(8,)](x, y, out, 1000, BLOCK=128)
    np.testing.assert_array_equal(out, x + 1)
    assert "ptx" in kernel.asm and gpu.last_report.blocks == 8
    out[:] = 0
    kernel[(8,)](x, y, out, 1000)
    np.testing.assert_array_equal(out, x + 1)


@pytest.mark.parametrize("padding, outside", [("zero", 0.0), ("nan", np.nan)])
def test_descriptors_of_the_host(gpu, padding, outside):
    x, out = np.arange(13 * 20, dtype=np.float32).reshape(13, 20), np.full((4, 8), 7, np.float32)
    whole = np.full((24, 32), outside, np.float32)
    whole[:13, :20] = x
    for row, column in [(2, 4), (11, 16), (20, 24)]:
        copy_block[(1,)](TensorDescriptor(x, [13, 20], [20, 1], [4, 8], padding), out, row, column)
        np.testing.assert_array_equal(out, whole[row : row + 4, column : column + 8])


@pytest.mark.torch
def test_tensors_of_torch(gpu):
    import torch

    for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.int64):
        x, y = torch.arange(300, dtype=dtype), torch.ones(300, dtype=dtype)
        out = torch.zeros_like(x)
        add_kernel[(3,)](x, y, out, 300, BLOCK=128)
        assert torch.equal(out, x + y)


def test_reductions_and_views(gpu):
    x = np.random.default_rng(3).standard_normal((5, 200)).astype(np.float32)
    out = np.zeros(7, np.float32)
    row_sums[(5,)](x, out[1:6], 200, BLOCK=256)
    np.testing.assert_allclose(out[1:6], x.sum(axis=1), rtol=1e-4, atol=1e-4)
    assert out[0] == out[6] == 0


def test_an_access_outside(gpu):
    x, out = np.ones(1000, np.float32), np.zeros(900, np.float32)
    with pytest.raises(OutOfBounds, match="after the end of out_ptr") as e:
        add_kernel[(8,)](x, x, out, 1000, BLOCK=128)
    assert "test_emulated.py" in str(e.value) and "tl.store" in str(e.value) and "larger" not in str(e.value)


def test_an_access_outside_of_a_view(gpu):
    """A view ends where it ends; who means the larger array says so."""
    x, larger = np.ones(1000, np.float32), np.zeros((2, 600), np.float32)
    for view in (larger.reshape(-1)[:900], larger.reshape(-1)[:900].reshape(30, 30)):
        with pytest.raises(OutOfBounds, match="hint: out_ptr is a view of a larger array, which has memory there"):
            add_kernel[(8,)](x, x, view, 1000, BLOCK=128)
    with pytest.raises(OutOfBounds) as e:
        add_kernel[(16,)](np.ones(2000, np.float32), np.ones(2000, np.float32), larger, 2000, BLOCK=128)
    assert "larger" not in str(e.value)
    gpu.reach(larger)
    add_kernel[(8,)](x, x, view, 1000, BLOCK=128)
    assert (larger.reshape(-1) == np.where(np.arange(1200) < 1000, 2, 0)).all()


def test_another_gpu_of_the_kind(gpu):
    """What is said to the GPU that is active holds, whichever one a kernel was compiled for."""
    x, larger = np.ones(1000, np.float32), np.zeros(1200, np.float32)
    add_kernel[(8,)](x, x, larger, 1000, BLOCK=128)
    other = EmulatedCUDADriver(gpu.target.capability)
    other.reach(larger)
    driver.set_active(other)
    before = gpu.last_report
    add_kernel[(8,)](x, x, larger[:900], 1000, BLOCK=128)
    assert other.last_report is not None and gpu.last_report is before


@pytest.mark.torch
def test_an_access_outside_of_a_slice_of_torchs(gpu):
    import torch

    x, larger = torch.ones(1000), torch.zeros(1200)
    with pytest.raises(OutOfBounds, match="a view of a larger array"):
        add_kernel[(8,)](x, x, larger[:900], 1000, BLOCK=128)


def test_prints_and_assertions(gpu, capsys):
    x = np.array([3, 5], np.int32)
    careful[(2,)](x, 9, debug=True)
    printed = capsys.readouterr().out
    assert "x =" in printed and "3" in printed and "5" in printed
    with pytest.raises(DeviceAssertError, match="too much") as e:
        careful[(2,)](x, 4, debug=True)
    assert e.value.program == (1, 0, 0)


@tritium.jit
def gathered(table_ptr, out_ptr, BLOCK: tl.constexpr):
    source = tl.load(table_ptr + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + tl.program_id(0) * BLOCK + offsets, tl.load(source + offsets))


def test_pointers_in_memory(gpu):
    arrays = [np.full(32, n, np.float32) for n in range(3)]
    table, out = np.array([a.ctypes.data for a in arrays], np.int64), np.zeros((3, 32), np.float32)
    with pytest.raises(OutOfBounds):
        gathered[(3,)](table, out, BLOCK=32)
    gpu.reach(*arrays)
    gathered[(3,)](table, out, BLOCK=32)
    np.testing.assert_array_equal(out, np.stack(arrays))


def test_invalid_launches_are_errors(gpu):
    class Address:
        dtype = "float32"

        def data_ptr(self):
            return 4096

    x = np.ones(16, np.float32)
    with pytest.raises(ArgumentError, match="'out_ptr' is only an address"):
        add_kernel[(1,)](x, x, Address(), 16, BLOCK=16)
    assert gpu.utils.get_device_properties()["max_shared_mem"] < 1 << 18


def test_the_setting(monkeypatch):
    monkeypatch.setenv("TRITIUM_TARGET", "emulated:80")
    driver.reset_active()
    try:
        assert driver.active.get_current_target() == ("cuda", 80, 32)
        x, out = np.ones(16, np.float32), np.zeros(16, np.float32)
        kernel = add_kernel[(1,)](x, x, out, 16, BLOCK=16)
        assert (out == 2).all() and kernel.values["target"]["arch"] == 80
        monkeypatch.setenv("TRITIUM_TARGET", "cpu")
        driver.reset_active()
        out[:] = 0
        kernel = add_kernel[(1,)](x, x, out, 16, BLOCK=16)
        assert (out == 2).all() and kernel.values["target"]["backend"] == "cpu"
    finally:
        monkeypatch.undo()
        driver.reset_active()


def test_compile_is_for_the_active_driver(gpu):
    signature = {"x_ptr": "*fp32", "y_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    kernel = tritium.compile(tritium.ASTSource(add_kernel, signature, {"BLOCK": 64}))
    assert kernel.metadata.target == gpu.get_current_target() and "ptx" in kernel.asm
