"""The whole way from a Python function to its results, for what the runtime decides: arguments, errors, the cache."""

from __future__ import annotations

import collections
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium import knobs
from tritium.compiler import GPUTarget
from tritium.runtime import ArgumentError, DeviceAssertError, LaunchError, SanitizerError, TensorDescriptor

ROOT = Path(__file__).resolve().parents[3]
Pair = collections.namedtuple("Pair", "first second")


@pytest.fixture(autouse=True)
def cache_dir(tmp_path, monkeypatch):
    """A cache of the test's own."""
    monkeypatch.setenv("TRITIUM_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@tritium.jit
def load(pointer, offsets, mask):
    return tl.load(pointer + offsets, mask=mask)


@tritium.jit
def double(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = load(x_ptr, offsets, offsets < n)
    tl.store(out_ptr + offsets, x + x, mask=offsets < n)


@tritium.jit
def store_scalar(out_ptr, value):
    tl.store(out_ptr, value)


@tritium.jit
def store_i64(out_ptr, value: tl.int64):
    tl.store(out_ptr, value)


@tritium.jit
def store_f64(out_ptr, value: tl.float64):
    tl.store(out_ptr, value)


@tritium.jit
def store_bf16(out_ptr, value: tl.bfloat16):
    tl.store(out_ptr, value)


@tritium.jit
def grid_shape(out_ptr):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    at = x + tl.num_programs(0) * (y + tl.num_programs(1) * z)
    tl.store(out_ptr + at, x + 10 * y + 100 * z)


# ---- arguments ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value, dtype",
    [
        (-5, "i4"), (2**31 - 1, "i8"), (2**40 + 3, "i8"), (-(2**63), "i8"), (2**64 - 1, "u8"), (1, "i4"), (0, "i4"),
        (True, "i4"), (False, "i4"), (2.5, "f4"), (float("inf"), "f4"), (np.int16(-7), "i4"), (np.float64(0.1), "f4"),
    ],
)  # fmt: skip
def test_scalars(value, dtype: str) -> None:
    out = np.zeros(1, dtype)
    for _ in range(2):
        out[:] = 0
        store_scalar[(1,)](out, value)
        assert out[0] == np.asarray(value).astype(dtype)


@pytest.mark.parametrize(
    "kernel, value, dtype",
    [(store_i64, 3, "i8"), (store_i64, 2**50, "i8"), (store_f64, 0.1, "f8"), (store_f64, 3, "f8"), (store_bf16, 1.25, "f4")],
    ids=str,
)  # fmt: skip
def test_annotated_scalars(kernel, value, dtype: str) -> None:
    out = np.zeros(1, dtype)
    kernel[(1,)](out, value)
    assert out[0] == value


def test_grids() -> None:
    out = np.full(24, -1, np.int32)
    grid_shape[(2, 3, 4)](out)
    z, y, x = np.meshgrid(range(4), range(3), range(2), indexing="ij")
    assert np.array_equal(out, (x + 10 * y + 100 * z).ravel())


def test_tuples() -> None:
    @tritium.jit
    def kernel(outs, values, scale: tl.constexpr):
        tl.store(outs[0], values[0] * scale[0])
        tl.store(outs[1], values[1] + scale[1])

    a, b = np.zeros(1, np.int32), np.zeros(1, np.float32)
    kernel[(1,)]((a, b), (7, 2.5), (3, 4))
    assert (a[0], b[0]) == (21, 6.5)


def test_named_tuples() -> None:
    @tritium.jit
    def kernel(out, pair):
        tl.store(out, pair.first + pair.second)

    out = np.zeros(1, np.int32)
    kernel[(1,)](out, Pair(7, 9))
    assert out[0] == 16


def test_none_and_strings() -> None:
    @tritium.jit
    def kernel(out, bias, mode: tl.constexpr):
        value = 1 if bias is None else tl.load(bias)
        if mode == "double":
            value = value * 2
        tl.store(out, value)

    out = np.zeros(1, np.int32)
    for bias, mode, expected in [(None, "double", 2), (None, "single", 1), (np.array([5], np.int32), "double", 10)]:
        kernel[(1,)](out, bias, mode)
        assert out[0] == expected


def test_tensor_descriptors() -> None:
    @tritium.jit
    def kernel(descriptor, out, row, column):
        block = descriptor.load([row, column])
        i, j = tl.arange(0, 4)[:, None], tl.arange(0, 8)[None, :]
        tl.store(out + i * 8 + j, block)

    x = np.arange(13 * 20, dtype=np.float32).reshape(13, 20)
    out = np.zeros((4, 8), np.float32)
    descriptor = TensorDescriptor.from_tensor(x, [4, 8])
    kernel[(1,)](descriptor, out, 2, 4)
    assert np.array_equal(out, x[2:6, 4:12])
    kernel[(1,)](descriptor, out, 11, 16)
    assert np.array_equal(out, np.pad(x, ((0, 9), (0, 9)))[11:15, 16:24])
    kernel[(1,)](TensorDescriptor(x, [13, 20], [20, 1], [4, 8], "nan"), out, 11, 16)
    assert np.array_equal(out[:2, :4], x[11:, 16:])
    assert np.isnan(out[2:]).all()
    assert np.isnan(out[:, 4:]).all()


class Interface:
    def __init__(self, array):
        self.__array_interface__ = array.__array_interface__
        self.array = array


class DLPack:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **kwargs):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Pointer:
    def __init__(self, array):
        self.array, self.dtype = array, "float32"

    def data_ptr(self):
        return self.array.ctypes.data


@pytest.mark.parametrize("wrap", [Interface, DLPack, Pointer])
def test_arrays_of_other_libraries(wrap) -> None:
    x, out = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    for _ in range(3):
        out[:] = 0
        double[(2,)](wrap(x), wrap(out), 100, BLOCK=64)
        assert np.array_equal(out, 2 * x)


@pytest.mark.torch
def test_tensors() -> None:
    import torch

    for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.int32):
        x, out = torch.arange(100).to(dtype), torch.zeros(100, dtype=dtype)
        for _ in range(2):
            double[lambda meta: (tritium.cdiv(100, meta["BLOCK"]),)](x, out, 100, BLOCK=64)
            assert torch.equal(out, x + x)
    with pytest.raises(ArgumentError, match="argument 'x_ptr': an array in the memory of device meta"):
        double[(1,)](torch.zeros(3, device="meta"), out, 3, BLOCK=64)
    x = torch.nn.Parameter(torch.ones(3))
    double[(1,)](x, out := torch.zeros(3), 3, BLOCK=4)
    assert out.tolist() == [2, 2, 2]


# ---- errors ---------------------------------------------------------------------------------------------------------


def test_sanitizer_tells_the_line_and_the_calls() -> None:
    x, out = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    double[(2,)](x, out, 100, BLOCK=64, sanitize=True)
    assert np.array_equal(out, 2 * x)
    with pytest.raises(SanitizerError) as found:
        double[(2,)](x[:90], out, 100, BLOCK=64, sanitize=True)
    error, text = found.value, str(found.value)
    assert (error.access, error.argument, error.index, error.count, error.program) == (
        "load",
        "x_ptr",
        90,
        90,
        (1, 0, 0),
    )
    assert "return tl.load(pointer + offsets, mask=mask)" in text
    assert "note: inlined here" in text and "x = load(x_ptr, offsets, offsets < n)" in text
    with pytest.raises(SanitizerError, match="out-of-bounds store of 'out_ptr': index 99, allowed are 0 to 99"):
        double[(2,)](x, out[:99], 100, BLOCK=64, sanitize=True)
    assert double[(2,)](x, out, 100, BLOCK=64).metadata.sanitize is False


def test_device_assert_only_where_asked_for() -> None:
    @tritium.jit
    def kernel(out, n):
        tl.device_assert(tl.program_id(0) < n, "too many programs")
        tl.store(out + tl.program_id(0), 1)

    out = np.zeros(4, np.int32)
    kernel[(4,)](out, 2)
    assert out.all()
    with pytest.raises(DeviceAssertError, match="device-side assertion failed: too many programs"):
        kernel[(4,)](out, 2, debug=True)
    with knobs.runtime.scope():
        knobs.runtime.debug = True
        with pytest.raises(DeviceAssertError):
            kernel[(4,)](out, 2)
    kernel[(4,)](out, 2)


def test_device_print(capsys: pytest.CaptureFixture[str]) -> None:
    @tritium.jit
    def kernel(x):
        tl.device_print("x", tl.load(x + tl.arange(0, 2)))

    kernel[(1,)](np.array([1.5, -2], np.float32))
    assert capsys.readouterr().out == "pid (0, 0, 0) idx (0) x: 1.500000\npid (0, 0, 0) idx (1) x: -2.000000\n"


def test_a_bad_kernel_leaves_nothing_and_the_next_one_works(cache_dir: Path) -> None:
    @tritium.jit
    def bad(out):
        tl.store(out, nothing)  # noqa: F821

    out = np.zeros(4, np.float32)
    for _ in range(2):
        with pytest.raises(tritium.CompilationError, match="nothing is not defined") as found:
            bad[(1,)](out)
    frames = [entry.path for entry in found.traceback]
    assert not any("frontend" in str(path) or "compiler" in str(path) for path in frames)
    assert not list(cache_dir.rglob("*.kernel"))
    double[(2,)](np.ones(4, np.float32), out, 4, BLOCK=2)  # a block size that no other test has
    assert out.tolist() == [2, 2, 2, 2]
    assert len(list(cache_dir.rglob("*.kernel"))) == 1


def test_calling_a_kernel_without_a_grid() -> None:
    with pytest.raises(LaunchError, match=r"hint: call double\[grid\]\(...\)"):
        double(1, 2, 3, 4)


def test_how_many_programs_fit_can_be_computed() -> None:
    """Scripts for GPUs divide by a warm kernel's figures to choose a grid."""
    kernel = double.warmup(np.dtype("float32"), np.dtype("float32"), 100, BLOCK=64, grid=(1,))
    kernel._init_handles()
    device = tritium.driver.active.get_active_torch_device() if "torch" in sys.modules else None
    properties = tritium.runtime.driver.active.utils.get_device_properties(getattr(device, "index", 0) or 0)
    programs = properties["max_num_regs"] // (kernel.n_regs * properties["warpSize"] * 8)
    programs = min(programs, properties["max_shared_mem"] // kernel.metadata.shared)
    assert properties["multiprocessor_count"] * programs >= 1
    assert tritium.driver.active.get_current_target().backend == "cpu"


def test_reinterpret() -> None:
    @tritium.jit
    def kernel(out, x, N: tl.constexpr):
        at = tl.arange(0, N)
        tl.store(out + at, tl.load(x + at).to(tl.float32))

    x, out = np.array([0x3C, 0xC0, 0x00, 0x44], np.uint8), np.zeros(4, np.float32)
    kernel[(1,)](out, tritium.reinterpret(x, tl.float8e5), N=4)
    assert out.tolist() == [1.0, -2.0, 0.0, 4.0]


# ---- compiling ------------------------------------------------------------------------------------------------------


def test_ast_source() -> None:
    source = tritium.compiler.ASTSource(double, {"x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32"}, {"BLOCK": 64})
    kernel = tritium.compile(source)
    assert list(kernel.asm) == ["source", "ttir", "ttcir", "llir", "asm", "obj"]
    assert "tt.call" in kernel.asm["source"] and "tt.call" not in kernel.asm["ttir"]
    x, out = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    kernel[(2,)](x, out, 100)
    assert np.array_equal(out, 2 * x)
    arm = tritium.compile(source, target=GPUTarget("cpu", "neoverse-v1", 1))
    assert "fadd" in arm.asm["asm"] and arm.hash != kernel.hash


SCRIPT = """
import numpy as np
import triton
import triton.language as tl
from triton.language.extra import libdevice

compiles = []
triton.knobs.compilation.listener = lambda **info: compiles.append(info["cache_hit"])

@triton.jit
def kernel(x, BLOCK: tl.constexpr):
    at = x + tl.arange(0, BLOCK)
    tl.store(at, tl.load(at) + tl.full((BLOCK,), 1, tl.float32))

x = np.zeros(16, np.float32)
kernel[(1,)](x, BLOCK=16)
kernel[(1,)](x, BLOCK=16)
assert (x == 2).all()
print(compiles, triton.__version__)
"""


def test_a_script_for_triton_runs_unchanged_and_once_compiled_stays_so(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    for expected in ("[False]", "[True]"):
        done = subprocess.run(
            [sys.executable, "-m", "tritium", "run", str(script)],
            capture_output=True,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": "1" if expected == "[True]" else "2"},
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.split()[0] == expected
