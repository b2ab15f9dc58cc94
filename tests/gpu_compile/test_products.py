"""Products by warp groups down to machine code: the instructions of each tile, without spills, none waiting for others.

That ptxas serializes `wgmma`, or keeps registers in memory, it says in its log, from which a warning is made: an error
here. How many instructions there are is known: each takes 64 rows, as many columns as there are up to 256, and 32
bytes along K.
"""

from __future__ import annotations

import re
import warnings
from typing import Any

import pytest

import tritium as tt
import tritium.language as tl
from tests.backends.nvidia.texts import needs_ptxas
from tests.example_kernels import cases, load
from tritium.backends.errors import PerformanceWarning
from tritium.compiler import ASTSource, CompiledKernel, GPUTarget, compile

pytestmark = needs_ptxas

Shape = tuple[int, int, int]


def matmul(dtype: str, shape: Shape, turned: str = "", activation: str = "", **options: Any) -> CompiledKernel:
    """The example's kernel for tiles of `shape`; of a matrix that is `turned` the first dimension is contiguous."""
    case = next(c for c in cases() if c.name.startswith("matmul"))
    m, n, k = shape
    strides = {"stride_ak": "stride_am", "stride_bn": "stride_bk"}
    one = {strides[s] if s[7] in turned else s: 1 for s in strides} | {"stride_cn": 1}
    constants = {"BLOCK_SIZE_M": m, "BLOCK_SIZE_N": n, "BLOCK_SIZE_K": k, "GROUP_SIZE_M": 8, "ACTIVATION": activation}
    constants |= one
    fn = getattr(load(case.example), case.kernel)
    pointers = {"a_ptr": f"*{dtype}", "b_ptr": f"*{dtype}", "c_ptr": f"*{dtype}"}
    signature = {name: "constexpr" if name in constants else pointers.get(name, "i32") for name in fn.arg_names}
    attrs = {(i,): [["tt.divisibility", 16]] for i, name in enumerate(fn.arg_names) if name not in constants}
    with warnings.catch_warnings():
        warnings.simplefilter("error", PerformanceWarning)
        return compile(ASTSource(fn, signature, constants, attrs), target=GPUTarget("cuda", 90, 32), options=options)


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITIUM_CACHE_DISABLE", "1")


#: (type, tile, warps, stages) and how many registers a thread may take: what Triton 3.9 takes, and some more.
TILES: list[tuple[str, Shape, int, int, int]] = [
    ("fp16", (128, 128, 64), 4, 1, 255),
    ("fp16", (128, 128, 64), 4, 4, 224),
    ("fp16", (128, 128, 64), 8, 3, 136),
    ("bf16", (128, 256, 64), 8, 3, 224),
    ("bf16", (64, 256, 64), 4, 4, 224),
    ("fp32", (128, 128, 32), 8, 3, 192),
    ("fp8e4nv", (128, 256, 128), 8, 3, 232),
    ("fp8e5", (128, 128, 128), 8, 3, 160),
]  # fmt: skip
_NAMES = {"fp16": "f32.f16.f16", "bf16": "f32.bf16.bf16", "fp32": "f32.tf32.tf32"}
_NAMES |= {"fp8e4nv": "f32.e4m3.e4m3", "fp8e5": "f32.e5m2.e5m2"}
_BYTES = {"fp16": 2, "bf16": 2, "fp32": 4}


@pytest.mark.sample(2, "dtype", "shape", "warps", "stages", "registers")
@pytest.mark.parametrize(("dtype", "shape", "warps", "stages", "registers"), TILES)
@pytest.mark.parametrize("turned", ["", "b"])
def test_tiles(dtype: str, shape: Shape, warps: int, stages: int, registers: int, turned: str) -> None:
    kernel = matmul(dtype, shape, turned, num_warps=warps, num_stages=stages)
    ptx, (m, n, k) = kernel.asm["ptx"], shape
    depth = 32 // _BYTES.get(dtype, 1)
    products = m // 64 // (warps // 4) * (k // depth)
    assert ptx.count("wgmma.mma_async") == products
    assert ptx.count(f"wgmma.mma_async.sync.aligned.m64n{n}k{depth}.{_NAMES[dtype]} ") == products
    assert kernel.n_spills == 0 and kernel.metadata.stack_size == 0
    assert kernel.n_regs <= registers
    # One group of products in flight while the next one is begun; or none, where nothing is begun ahead.
    assert [int(n) for n in re.findall(r"wgmma.wait_group.sync.aligned (\d)", ptx)][0] == (
        stages > 1 and _ahead(dtype, turned)
    )


def _ahead(dtype: str, turned: str) -> bool:
    """Whether all operands are copied to where they are read: bytes alone cannot be turned on the way."""
    return dtype in ("fp16", "bf16", "fp32") or turned == "b"


@pytest.mark.parametrize("without", ["", "wgmma", "wgmma-in-flight", "accumulator-init", "async-copies"])
def test_without(without: str) -> None:
    """Each means may be missing; then the instructions are others."""
    ptx = matmul("fp16", (128, 128, 64), num_warps=8, num_stages=3, without=without).asm["ptx"]
    assert ("wgmma.mma_async" in ptx) == (without != "wgmma") == (not re.search(r"\tmma\.sync", ptx))
    assert ("wgmma.wait_group.sync.aligned 1" in ptx) == (without in ("", "accumulator-init"))
    assert ("cp.async.cg" in ptx) == (without != "async-copies")


@tt.jit
def square(x, out, N: tl.constexpr):
    """x @ (x @ x): the first product's result is the second one's operand in memory."""
    i = tl.arange(0, N)
    at = i[:, None] * N + i[None, :]
    value = tl.load(x + at)
    tl.store(out + at, tl.dot(value, tl.dot(value, value).to(tl.float16)))


def test_results_go_to_memory_by_stmatrix() -> None:
    source = ASTSource(square, {"x": "*fp16", "out": "*fp32", "N": "constexpr"}, {"N": 64}, {})
    for without in ("", "stmatrix"):
        kernel = compile(source, target=GPUTarget("cuda", 90, 32), options={"without": without}, until="ptx")
        assert ("stmatrix" in kernel.asm["ptx"]) == (not without)


@pytest.mark.parametrize("without", ["", "flatten"])
def test_persistent_tiles_by_pointers_are_copied_ahead(without: str) -> None:
    """Indices that one loop in the place of two carries are still known to follow each other: A and B are copied."""
    case = next(c for c in cases() if c.kernel == "matmul_persistent_kernel")
    fn = getattr(load(case.example), case.kernel)
    constants = {"BLOCK_M": 128, "BLOCK_N": 256, "BLOCK_K": 64, "GROUP_M": 8, "PROGRAMS": 132}
    signature = {n: "constexpr" if n in constants else "*fp16" if n.endswith("ptr") else "i32" for n in fn.arg_names}
    attrs = {(i,): [["tt.divisibility", 16]] for i, n in enumerate(fn.arg_names) if n not in constants}
    options = {"num_warps": 8, "num_stages": 3, "without": without}
    kernel = compile(ASTSource(fn, signature, constants, attrs), target=GPUTarget("cuda", 90, 32), options=options)
    ptx = kernel.asm["ptx"]
    stages = 3  # two in front of the loop, and one in it; A has 4 copies of 16 bytes a thread, B 8
    assert ptx.count("cp.async.cg") == stages * 12
    assert kernel.n_spills == 0
