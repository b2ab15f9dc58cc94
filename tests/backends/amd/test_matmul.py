"""Matmuls compiled for gfx942 and gfx1100: matrix instructions, and results of the emulator against NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.backends.amd import kernels
from tests.transforms.ttgir.test_kernels import FOLDER, LAUNCHES, outcome
from tritium.compiler import ASTSource, GPUTarget, compile
from tritium.emulator.amdgcn import launch
from tritium.ir import parse_module


@tritium.jit
def matmul(
    a,
    b,
    c,
    M,
    N,
    K,
    am,
    ak,
    bk,
    bn,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    PRECISION: tl.constexpr,
    ACCUMULATOR: tl.constexpr,
):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    depths = tl.arange(0, BK)
    a_at = a + rows[:, None] * am + depths[None, :] * ak
    b_at = b + depths[:, None] * bk + columns[None, :] * bn
    acc = tl.zeros((BM, BN), dtype=ACCUMULATOR)
    for k in range(0, K, BK):
        x = tl.load(a_at, mask=(rows[:, None] < M) & (depths[None, :] < K - k), other=0)
        y = tl.load(b_at, mask=(depths[:, None] < K - k) & (columns[None, :] < N), other=0)
        acc = tl.dot(x, y, acc, input_precision=PRECISION, out_dtype=ACCUMULATOR)
        a_at += BK * ak
        b_at += BK * bk
    tl.store(c + rows[:, None] * N + columns[None, :], acc, mask=(rows[:, None] < M) & (columns[None, :] < N))


def compiled(
    arch: str,
    ty: str,
    blocks: Sequence[int],
    transposed: bool = False,
    precision: str = "ieee",
    small: bool = False,
    **options: Any,
) -> Any:
    """The kernel with operands of type `ty`; `transposed`: the second operand is read along its columns; `small`: it
    is known that arrays have less than 2 GB."""
    accumulator = {"i8": tl.int32, "fp64": tl.float64}.get(ty, tl.float32)
    out = {"i8": "*i32", "fp64": "*fp64"}.get(ty, "*fp32")
    signature = {"a": f"*{ty}", "b": f"*{ty}", "c": out} | dict.fromkeys("M N K am ak bk bn".split(), "i32")
    constants = {"BM": blocks[0], "BN": blocks[1], "BK": blocks[2], "PRECISION": precision, "ACCUMULATOR": accumulator}
    unit = 8 if transposed else 9
    del signature["ak"], signature["bk" if transposed else "bn"]
    constants |= {"ak": 1, "bk" if transposed else "bn": 1}
    divisible = {(i,): [["tt.divisibility", 16]] for i in (0, 1, 2, 4, 6, unit)}
    for i in range(3 if small else 0):
        divisible[i,].append(["tt.pointer_range", 32])
    target = GPUTarget("hip", arch, 64 if arch.startswith("gfx9") else 32)
    return compile(ASTSource(matmul, signature, constants, divisible), target=target, options=options)


def values(ty: str, rng: np.random.Generator, *shape: int) -> tuple[np.ndarray, np.ndarray]:
    """Small numbers, as the kernel reads them and as float64."""
    numbers = rng.integers(-3, 4, shape)
    if ty == "bf16":
        return (numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16), numbers.astype(np.float64)
    if ty in _FP8:
        return _FP8[ty][numbers], numbers.astype(np.float64)
    return numbers.astype({"fp16": np.float16, "i8": np.int8, "fp64": np.float64}.get(ty, np.float32)), numbers.astype(
        np.float64
    )


#: The codes of 0, 1, 2, 3, -3, -2, -1 (indices that numbers of either sign have).
_FP8 = {
    "fp8e4b8": np.array([0x00, 0x40, 0x48, 0x4C, 0xCC, 0xC8, 0xC0], np.uint8),
    "fp8e5b16": np.array([0x00, 0x40, 0x44, 0x46, 0xC6, 0xC4, 0xC0], np.uint8),
    "fp8e4nv": np.array([0x00, 0x38, 0x40, 0x44, 0xC4, 0xC0, 0xB8], np.uint8),
    "fp8e5": np.array([0x00, 0x3C, 0x40, 0x42, 0xC2, 0xC0, 0xBC], np.uint8),
}


def check(kernel: Any, ty: str, shape: Sequence[int], blocks: Sequence[int], transposed: bool = False) -> None:
    m, n, k = shape
    rng = np.random.default_rng(1)
    a, wide_a = values(ty, rng, m, k)
    b, wide_b = values(ty, rng, k, n)
    c = np.full((m, n), -77, {"i8": np.int32, "fp64": np.float64}.get(ty, np.float32))
    stride = k if transposed else n
    held = np.ascontiguousarray(b.T if transposed else b)
    grid = (-(-m // blocks[0]), -(-n // blocks[1]))
    launch(kernel.asm["amdgcn"], grid, [a, held, c, m, n, k, k, stride], shared_bytes=kernel.metadata.shared)
    np.testing.assert_array_equal(c, (wide_a @ wide_b).astype(c.dtype))


#: arch, type, input precision -> the instruction that Triton 3.9 uses, too
INSTRUCTIONS = [
    ("gfx942", "fp16", "ieee", "v_mfma_f32_32x32x8_f16"),
    ("gfx942", "bf16", "ieee", "v_mfma_f32_32x32x8_bf16"),
    ("gfx942", "fp32", "ieee", "v_mfma_f32_32x32x2_f32"),
    ("gfx942", "fp32", "tf32", "v_mfma_f32_32x32x4_xf32"),
    ("gfx942", "fp64", "ieee", "v_mfma_f64_16x16x4_f64"),
    ("gfx942", "i8", "ieee", "v_mfma_i32_32x32x16_i8"),
    ("gfx942", "fp8e4b8", "ieee", "v_mfma_f32_32x32x16_fp8_fp8"),
    ("gfx942", "fp8e5b16", "ieee", "v_mfma_f32_32x32x16_bf8_bf8"),
    ("gfx942", "fp8e4nv", "ieee", "v_mfma_f32_32x32x8_f16"),
    ("gfx1100", "fp16", "ieee", "v_wmma_f32_16x16x16_f16"),
    ("gfx1100", "bf16", "ieee", "v_wmma_f32_16x16x16_bf16"),
    ("gfx1100", "i8", "ieee", "v_wmma_i32_16x16x16_iu8"),
    ("gfx1100", "fp8e5", "ieee", "v_wmma_f32_16x16x16_f16"),
    ("gfx1100", "fp32", "ieee", "v_fma"),
]


@pytest.mark.parametrize(("arch", "ty", "precision", "instruction"), INSTRUCTIONS)
def test_matmul_by_matrix_instructions(arch: str, ty: str, precision: str, instruction: str) -> None:
    blocks = (32, 32, 16) if instruction == "v_fma" else (32, 64, 32)
    kernel = compiled(arch, ty, blocks, precision=precision)
    assert instruction in kernel.asm["amdgcn"]
    assert kernel.metadata.scratch == 0
    check(kernel, ty, (blocks[0] + 16, blocks[1], 3 * blocks[2]), blocks)


@pytest.mark.sample(2)
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize(
    ("blocks", "options"),
    [((16, 64, 64), {}), ((32, 32, 64), {"matrix_instr_nonkdim": 16, "kpack": 2}), ((64, 32, 16), {"num_stages": 3})],
)
def test_matmul_of_other_shapes_and_options(arch: str, blocks: tuple[int, int, int], options: dict[str, Any]) -> None:
    kernel = compiled(arch, "fp16", blocks, transposed=True, num_warps=2, **options)
    assert "v_mfma" in kernel.asm["amdgcn"] or "v_wmma" in kernel.asm["amdgcn"]
    check(kernel, "fp16", (48, 64, 112), blocks, transposed=True)


def test_chained_dots_of_attention(tmp_path: Path) -> None:
    """The result of the first dot becomes an operand of the second; the text's descriptors become pointers."""
    name = "attention.attention_forward.forward-causal"
    text = (FOLDER / f"{name}.sm90.ttir.mlir").read_text()
    want = outcome(parse_module(text), name)
    path = tmp_path / "attention.ttir"
    path.write_text(text)
    kernel = compile(str(path), target=GPUTarget("hip", "gfx942", 64))
    grid, arguments = LAUNCHES[name]()
    launch(kernel.asm["amdgcn"], grid, arguments, shared_bytes=kernel.metadata.shared)
    assert kernel.metadata.scratch == 0
    for a, b in zip(want, (a for a in arguments if isinstance(a, np.ndarray))):
        np.testing.assert_allclose(a.astype(np.float64), b.astype(np.float64), rtol=2e-3, atol=2e-3)


@pytest.mark.sample(2)
@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
@pytest.mark.parametrize("ty", ["fp16", "fp32", "i8"])
def test_matmul_of_small_arrays_by_buffer_accesses(arch: str, ty: str) -> None:
    """Masked rows, columns and a part of K: lanes that are masked off have offsets beyond the buffer."""
    blocks = (32, 32, 32)
    kernel = compiled(arch, ty, blocks, small=True, num_warps=1)
    text = kernel.asm["amdgcn"]
    assert "buffer_load_" in text and "buffer_store_" in text
    assert not any(name in text for name in ("global_load_", "global_store_"))
    check(kernel, ty, (40, 48, 80), blocks)


@tritium.jit
def one_tile(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x, y = tl.load(a + m[:, None] * K + k[None, :]), tl.load(b + k[:, None] * N + n[None, :])
    tl.store(c + m[:, None] * N + n[None, :], tl.dot(x, y, out_dtype=tl.int32))


def test_wmma_runs_in_all_lanes_where_few_of_them_store() -> None:
    """Of eight rows half of the lanes hold copies, which are not stored: LLVM moved the WMMA into that branch."""
    signature = {"a": "*i8", "b": "*i8", "c": "*i32"}
    aligned = {(i,): [["tt.divisibility", 16]] for i in range(3)}
    source = ASTSource(one_tile, signature, {"M": 8, "N": 32, "K": 16}, aligned)
    kernel = compile(source, target=GPUTarget("hip", "gfx1100", 32), options={"num_warps": 2})
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-8, 9, shape).astype(np.int8) for shape in ((8, 16), (16, 32)))
    c = np.full((8, 32), -77, np.int32)
    launch(kernel.asm["amdgcn"], 1, [a, b, c], shared_bytes=kernel.metadata.shared)
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32))


def test_large_dot_by_fmas_is_scheduled_in_parts() -> None:
    """4,096 FMAs a thread: LLVM's search for pairs is quadratic in a part, and each part loads its operands."""
    types = {"a": "*fp32", "b": "*fp32", "c": "*fp32", "k": "i32"}
    aligned = {(i,): [["tt.divisibility", 16]] for i in range(4)}
    source = ASTSource(kernels.matmul, types, {"M": 64, "N": 64, "B": 64}, aligned)
    kernel = compile(source, target=GPUTarget("hip", "gfx1100", 32), options={"num_warps": 2})
    assert kernel.asm["llir"].count("call void @llvm.amdgcn.sched.barrier(i32 0)") >= 15
    a, b = np.random.default_rng(1).integers(-3, 4, (2, 64, 64)).astype(np.float32)
    c = np.full((64, 64), np.nan, np.float32)
    launch(kernel.asm["amdgcn"], 1, [a, b, c, 64], shared_bytes=kernel.metadata.shared)
    np.testing.assert_array_equal(c, a @ b)


def test_large_dot_without_fusion_is_scheduled_in_parts() -> None:
    """2,048 products a thread are 4,096 instructions where each is rounded: 15 s undivided, 3 s in parts."""
    types = {"a": "*fp32", "b": "*fp32", "c": "*fp32", "k": "i32"}
    source = ASTSource(kernels.matmul, types, {"M": 64, "N": 64, "B": 64})
    kernel = compile(source, target=GPUTarget("hip", "gfx1100", 32), options={"enable_fp_fusion": False})
    assert kernel.asm["llir"].count("call void @llvm.amdgcn.sched.barrier(i32 0)") >= 15


@tritium.jit
def unaligned(a, b, c, k, sa, sb, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, at = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    acc = tl.zeros((M, N), tl.float32)
    for i in range(0, k, K):
        x = tl.load(a + m[:, None] * sa + i + at[None, :])
        acc = tl.dot(x, tl.load(b + (i + at)[:, None] * sb + n[None, :]), acc)
    tl.store(c + m[:, None] * N + n[None, :], acc)


@pytest.mark.parametrize("arch", ["gfx942", "gfx1100"])
def test_operand_of_unaligned_pointers_is_stored_along_k(arch: str) -> None:
    """Loads of one element; the store to LDS writes several along K."""
    types = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "k": "i32", "sa": "i32", "sb": "i32"}
    target = GPUTarget("hip", arch, 64 if arch.startswith("gfx9") else 32)
    kernel = compile(ASTSource(unaligned, types, {"M": 32, "N": 64, "K": 32}), target=target)
    assert "ds_write_b64" in kernel.asm["amdgcn"] or "ds_store_b" in kernel.asm["amdgcn"]
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((32, 97), (96, 65)))
    c = np.full((32, 64), np.nan, np.float32)
    launch(kernel.asm["amdgcn"], 1, [a, b, c, 96, 97, 65], shared_bytes=kernel.metadata.shared)
    np.testing.assert_array_equal(c, a[:, :96].astype(np.float32) @ b[:, :64].astype(np.float32))


@pytest.mark.parametrize(("m", "n", "warps"), [(64, 64, 4), (256, 128, 8), (256, 256, 8)])
def test_clusters_of_loads_and_matrix_instructions_compute_the_same(m: int, n: int, warps: int) -> None:
    """One cluster of each kind, two and four; the emulator finds accesses to LDS that no barrier orders."""
    names = "abcMNK"
    types = {name: "*fp16" if name in "ab" else "*fp32" if name == "c" else "i32" for name in names}
    aligned = {(i,): [["tt.divisibility", 16]] for i in range(len(names))}
    source = ASTSource(whole_tiles, types, {"BM": m, "BN": n, "BK": 64}, aligned)
    kernel = compile(source, target=GPUTarget("hip", "gfx942", 64), options={"num_warps": warps})
    assert kernel.asm["ttgir"].count("amdg.cond_barrier") == (2 if warps == 8 else 0)
    assert "s_setprio 1" in kernel.asm["amdgcn"]
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((m, 192), (192, n)))
    c = np.full((m, n), np.nan, np.float32)
    launch(kernel.asm["amdgcn"], 1, [a, b, c, m, n, 192], shared_bytes=kernel.metadata.shared)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


@tritium.jit
def whole_tiles(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n, at = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + m[:, None] * K + k + at[None, :])
        acc = tl.dot(x, tl.load(b + (k + at)[:, None] * N + n[None, :]), acc)
    tl.store(c + m[:, None] * N + n[None, :], acc)
