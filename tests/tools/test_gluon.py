"""`tritium gluon`: kernels printed in Gluon give the same bits and code as those of the Triton language."""

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import tritium
import tritium.language as tl
from tests.example_kernels import load
from tritium.dialects.tt_types import TensorDescType
from tritium.experimental.gluon.nvidia.hopper import TensorDescriptor as GluonDescriptor
from tritium.frontend.gluon.layouts import layout_of
from tritium.ir import functions_of, parse_module
from tritium.language.extra import libdevice
from tritium.runtime import driver
from tritium.runtime.emulated import EmulatedCUDADriver
from tritium.tools.cli import app
from tritium.tools.gluon.operations import EXPRESSIONS, STATEMENTS
from tritium.tools.gluon.printer import print_kernel
from tritium.tools.tensor_descriptor import TensorDescriptor

EXAMPLES = Path(__file__).parents[2] / "examples"
random = np.random.default_rng(5)


@pytest.fixture(params=[80, 90], ids=["sm_80", "sm_90"])
def capability(request: pytest.FixtureRequest) -> Iterator[int]:
    driver.set_active(EmulatedCUDADriver(request.param))
    yield request.param
    driver.reset_active()


@pytest.fixture
def hopper() -> Iterator[None]:
    driver.set_active(EmulatedCUDADriver(90))
    yield
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
    kernel = fn[grid](**arguments, host_maps=False)
    array = arguments[output]
    array = array.base if isinstance(array, TensorDescriptor) else array
    want = array.copy()
    array[:] = 77
    gluon = translated(kernel, folder)
    values = given(kernel, [arguments[n] for n in gluon.arg_names])
    found = gluon[grid](*values, **launch_options(folder / "translated.py"), host_maps=False)
    assert np.array_equal(array.view(np.uint8), want.view(np.uint8))
    assert found.metadata.shared == kernel.metadata.shared
    return kernel, found


def launch_options(path: Path) -> dict[str, int]:
    """What the comment of a printed kernel says."""
    comment = re.search(r"# launch with (.*)", path.read_text())
    assert comment is not None
    return {name: int(value) for name, _, value in (option.partition("=") for option in comment[1].split(", "))}


def given(kernel: Any, values: list[Any]) -> list[Any]:
    """The arguments, with descriptors in the layouts of the kernel's."""
    parameters = functions_of(parse_module(kernel.asm["ttgir"]))[0].regions[0].blocks[0].args
    blocks = iter([a.type.block for a in parameters if isinstance(a.type, TensorDescType)])
    for i, value in enumerate(values):
        if isinstance(value, TensorDescriptor):
            block = next(blocks)
            shape = list(block.shape)
            values[i] = GluonDescriptor.from_tensor(value.base, shape, layout_of(block.encoding, shape))
    return values


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


@tritium.jit
def matmul_described(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WS: tl.constexpr):
    acc = tl.zeros([BM, BN], tl.float32)
    for k in tl.range(0, K, BK, warp_specialize=WS):
        acc = tl.dot(a.load([tl.program_id(0) * BM, k]), b.load([tl.program_id(1) * BN, k]).T, acc)
    c.store([tl.program_id(0) * BM, tl.program_id(1) * BN], acc.to(tl.float16))


@pytest.mark.parametrize("specialized", [False, True])
def test_tma_and_warp_specialization_have_the_same_bits(hopper, tmp_path, specialized):
    a, b = (random.standard_normal((64, 256)).astype(np.float16) for _ in range(2))
    c = np.empty((64, 64), np.float16)
    descriptors = {n: TensorDescriptor.from_tensor(x, [64, 64]) for n, x in (("a", a), ("b", b), ("c", c))}
    kernel, found = check(
        matmul_described, (1, 1), tmp_path, "c", **descriptors, K=256, BM=64, BN=64, BK=64, WS=specialized
    )  # fmt: skip
    text = (tmp_path / "translated.py").read_text()
    assert "tma.async_load(a, [" in text
    assert ("gl.warp_specialize([" in text) == specialized
    assert found.metadata.num_warps == kernel.metadata.num_warps


@tritium.jit
def described_in_the_kernel(x, y, rows, columns, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [rows, columns], [columns, 1], [M, N])
    target = tl.make_tensor_descriptor(y, [rows, columns], [columns, 1], [M, N])
    target.store([0, 0], source.load([8, 0]) * 2)


def test_descriptors_made_in_the_kernel_have_the_same_bits(capability, tmp_path):
    x = random.standard_normal((40, 64)).astype(np.float32)
    check(
        described_in_the_kernel, (1,), tmp_path, "y", x=x, y=np.full_like(x, 77), rows=40, columns=64, M=32, N=32
    )  # fmt: skip
    assert ("tma.make_tensor_descriptor(" in (tmp_path / "translated.py").read_text()) == (capability == 90)


@tritium.jit
def looped(x, y, lock, n, N: tl.constexpr):
    at = tl.arange(0, N)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    i = 0
    v = tl.load(x + at)
    while i * i < n:
        v = libdevice.asin(libdevice.sin(v)) + (tl.umulhi(at, 0x7FFFFFFF) + i).to(tl.float32)
        i += 1
    tl.store(y + at, v)
    tl.atomic_xchg(lock, 0)


def test_while_loops_atomics_and_library_functions_have_the_same_bits(capability, tmp_path):
    x = random.standard_normal(256).astype(np.float32)
    check(looped, (1,), tmp_path, "y", x=x, y=np.empty_like(x), lock=np.zeros(1, np.int32), n=20, N=256)
    assert "libdevice.asin(" in (tmp_path / "translated.py").read_text()


@tritium.jit
def negated(x, y, N: tl.constexpr):
    v = tl.load(x + tl.arange(0, N))
    tl.store(y + tl.arange(0, N), tl.where(not (v > 0.5), -v, tl.reduce(v, 0, _capped)))


@tritium.jit
def _capped(a, b):
    return tl.minimum(a + b, 3.0)


def test_negations_and_constants_of_reductions_have_the_same_bits(capability, tmp_path):
    x = np.concatenate([random.standard_normal(127), [np.nan]]).astype(np.float32)
    check(negated, (1,), tmp_path, "y", x=x, y=np.empty_like(x), N=128)


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["gluon", *arguments])


INLINE_ASM = """import tritium
import tritium.language as tl


@tritium.jit
def kernel(x, N: tl.constexpr):
    tl.store(x + tl.arange(0, N), tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [tl.arange(0, N)], tl.int32, True, 1))
"""
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


def test_an_operation_that_cannot_be_written_is_named_at_its_line(tmp_path):
    source = tmp_path / "asm.py"
    source.write_text(INLINE_ASM)
    found = run(f"{source}::kernel", "-s", "*i32, 32")
    assert found.exit_code == 1
    assert "asm.py:7:" in found.stderr
    assert "tt.elementwise_inline_asm cannot be written in Gluon yet" in found.stderr


def test_targets_without_layouts_are_refused():
    found = run(ADD, "-s", "*fp32, *fp32, *fp32, i32, 1024", "-t", "cpu")
    assert found.exit_code == 1
    assert "--target cuda:90" in found.stderr or "ttgir" in found.stderr


@tritium.jit
def clamped(x, y, scale, LIMIT: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, N)
    factor = tl.load(scale + tl.arange(0, 1)).to(tl.float32)
    v = tl.load(x + at) * tl.max(factor, 0)
    clipped = tl.clamp(v, -LIMIT, LIMIT)
    tl.store(y + at, clipped + tl.clamp(v, 0.0, LIMIT, propagate_nan=tl.PropagateNan.ALL))


def test_clamps_and_tensors_of_one_element_have_the_same_bits(capability, tmp_path):
    x = random.standard_normal(256).astype(np.float32)
    x[7] = np.nan
    scale = np.array([3.0], np.float16)
    check(clamped, (1,), tmp_path, "y", x=x, y=np.empty_like(x), scale=scale, LIMIT=1.5, N=256)


@tritium.jit
def largest(x, y, M: tl.constexpr, N: tl.constexpr):
    v = tl.load(x + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    tl.store(y + tl.arange(0, 1), tl.max(v) + tl.zeros((1,), tl.int32))


def test_reductions_of_whole_tensors_give_the_same(capability, tmp_path):
    """Their reshapes reorder elements, which a conversion does in Gluon: with shared memory of its own."""
    x, y = random.integers(-(2**31), 2**30, (32, 64)).astype(np.int32), np.zeros(1, np.int32)
    gluon = translated(largest[(1,)](x, y, M=32, N=64), tmp_path)
    assert y[0] == x.max()
    y[0] = 0
    gluon[(1,)](x, y, **launch_options(tmp_path / "translated.py"))
    assert y[0] == x.max()
