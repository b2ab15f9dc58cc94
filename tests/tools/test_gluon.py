"""`tritium gluon`: kernels printed in Gluon give the same bits and code as those of the Triton language."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import tritium
import tritium.language as tl
from tests.example_kernels import load
from tritium.ir import parse_module
from tritium.runtime import driver
from tritium.runtime.emulated import EmulatedCUDADriver
from tritium.tools.cli import app
from tritium.tools.gluon.operations import EXPRESSIONS, STATEMENTS
from tritium.tools.gluon.printer import print_kernel

EXAMPLES = Path(__file__).parents[2] / "examples"
random = np.random.default_rng(5)


@pytest.fixture(params=[80, 90], ids=["sm_80", "sm_90"])
def capability(request: pytest.FixtureRequest) -> Iterator[int]:
    driver.set_active(EmulatedCUDADriver(request.param))
    yield request.param
    driver.reset_active()


def translated(kernel: Any, folder: Path) -> Any:
    """The function in Gluon of a compiled kernel."""
    path = folder / "translated.py"
    path.write_text(print_kernel(parse_module(kernel.asm["ttgir"]), EXPRESSIONS, STATEMENTS))
    spec = importlib.util.spec_from_file_location("translated", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, kernel.name)


def check(fn: Any, grid: tuple[int, ...], folder: Path, output: str, **arguments: Any) -> tuple[Any, Any]:
    """Both compiled kernels, after a launch of each; AssertionError unless the outputs have the same bits."""
    kernel = fn[grid](**arguments)
    want, arguments[output] = arguments[output], np.full_like(arguments[output], 77)
    gluon = translated(kernel, folder)
    found = gluon[grid](*(arguments[n] for n in gluon.arg_names), num_warps=kernel.metadata.num_warps)
    assert np.array_equal(arguments[output].view(np.uint8), want.view(np.uint8))
    assert found.metadata.shared == kernel.metadata.shared
    return kernel, found


def test_softmax_has_the_same_bits(capability, tmp_path):
    x = random.standard_normal((6, 700)).astype(np.float32)
    check(
        load("fused_softmax").softmax_kernel, (2,), tmp_path, "output_ptr",
        output_ptr=np.empty_like(x), input_ptr=x, input_row_stride=700, output_row_stride=700, n_rows=6, n_cols=700,
        BLOCK_SIZE=1024, num_stages=2,
    )  # fmt: skip


@tritium.jit
def matmul(a, b, c, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows, columns, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    acc = tl.zeros((M, N), tl.float32)
    for at in range(0, k, K):
        x = tl.load(a + rows[:, None] * k + at + inner[None, :])
        y = tl.load(b + (at + inner)[:, None] * N + columns[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + rows[:, None] * N + columns[None, :], acc)


def test_pipelined_matmuls_have_the_same_bits(capability, tmp_path):
    a, b = (random.standard_normal(s).astype(np.float16) for s in ((64, 256), (256, 64)))
    c = np.empty((64, 64), np.float32)
    _, found = check(matmul, (1,), tmp_path, "c", a=a, b=b, c=c, k=256, M=64, N=64, K=32)
    assert ("wgmma" if capability == 90 else "mma.sync") in found.asm["ptx"]
    assert "cp.async" in found.asm["ptx"]


@tritium.jit
def mixed(x, y, n, N: tl.constexpr):
    at = tl.arange(0, N)
    v = tl.load(x + at, at < n, 7)
    if n > 3:
        v = (v.to(tl.uint32, bitcast=True) >> 3).to(tl.int32, bitcast=True)
    w = tl.associative_scan(v, 0, _larger)
    index = tl.argmax(tl.trans(tl.reshape(w, (N // 4, 4))), axis=1)
    tl.store(y + at, tl.where(at % 3 == 0, w, v + tl.sum(index)))


@tritium.jit
def _larger(a, b):
    return tl.where(a > b, a, b)


def test_scans_branches_and_unsigned_integers_have_the_same_bits(capability, tmp_path):
    x = random.integers(-(2**31), 2**31 - 1, 256).astype(np.int32)
    check(mixed, (1,), tmp_path, "y", x=x, y=np.empty_like(x), n=200, N=256)


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["gluon", *arguments])


ADD = f"{EXAMPLES / 'vector_add.py'}::add_kernel"


def test_the_command_prints_layouts_names_and_lines(tmp_path):
    found = run(ADD, "-s", "*fp32:16, *fp32:16, *fp32:16, i32, 1024")
    assert found.exit_code == 0, found.output
    assert "BLOCKED: gl.constexpr = gl.BlockedLayout(size_per_thread=[4]" in found.output
    assert "# vector_add.py:" in found.output
    assert "gl.store(" in found.output
    written = tmp_path / "add.py"
    assert run(ADD, "-s", "*fp32:16, *fp32:16, *fp32:16, i32, 1024", "-o", str(written)).exit_code == 0
    assert written.read_text() == found.output


def test_an_operation_that_cannot_be_written_is_named_at_its_line():
    found = run(f"{EXAMPLES / 'library_functions.py'}::asin_kernel", "-s", "*fp64, *fp64, i32, 1024")
    assert found.exit_code == 1
    assert "library_functions.py:17:" in found.stderr
    assert "tt.extern_elementwise cannot be written in Gluon yet" in found.stderr


def test_targets_without_layouts_are_refused():
    found = run(ADD, "-s", "*fp32, *fp32, *fp32, i32, 1024", "-t", "cpu")
    assert found.exit_code == 1
    assert "--target cuda:90" in found.stderr or "ttgir" in found.stderr
