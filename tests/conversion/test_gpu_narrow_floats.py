"""8-bit floats as NVIDIA GPUs convert them, over all patterns, in the emulator: natively, and in integer arithmetic."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import tritium as tt
import tritium.language as tl
from tests.conversion.test_narrow_floats import value_of
from tritium.backends.compiler import GPUTarget
from tritium.compiler import ASTSource
from tritium.emulator import launch

BLOCK = 512
MLIR = {"fp8e5": "f8E5M2", "fp8e4nv": "f8E4M3FN", "fp8e4b15": "f8E4M3B11FNUZ"}
LARGEST = {"fp8e5": 0x7B, "fp8e4nv": 0x7E, "fp8e4b15": 0x7F}
NUMPY = {"fp16": np.float16, "bf16": np.uint16, "fp32": np.float32, "fp64": np.float64}


@tt.jit
def convert(x, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i).to(out.dtype.element_ty))


@tt.jit
def convert_towards_zero(x, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i).to(out.dtype.element_ty, fp_downcast_rounding="rtz"))


@functools.lru_cache(64)
def compiled(source: str, target: str, capability: int, towards_zero: bool = False) -> Any:
    fn = convert_towards_zero if towards_zero else convert
    attrs = {(0,): [["tt.divisibility", 16]], (1,): [["tt.divisibility", 16]]}
    ast = ASTSource(fn, {"x": f"*{source}", "out": f"*{target}", "BLOCK": "constexpr"}, {"BLOCK": BLOCK}, attrs)
    return tt.compile(ast, GPUTarget("cuda", capability, 32), until="ptx")


def run(x: np.ndarray, source: str, target: str, capability: int, towards_zero: bool = False) -> np.ndarray:
    """`x` (bits, where NumPy has no such type) converted."""
    size = -(-len(x) // BLOCK) * BLOCK
    padded = np.zeros(size, x.dtype)
    padded[: len(x)] = x
    bits = np.uint8 if target in MLIR else NUMPY[target]
    out = np.full(size, 113, bits)
    kernel = compiled(source, target, capability, towards_zero)
    launch(kernel.asm["ptx"], size // BLOCK, [padded, out], shared_bytes=kernel.metadata.shared)
    return out[: len(x)]


def numbers(x: np.ndarray) -> np.ndarray:
    """What an array of f16, f32, f64 or the bits of bf16 holds."""
    with np.errstate(invalid="ignore"):
        return (x.astype(np.uint32) << 16).view(np.float32).astype(float) if x.dtype == np.uint16 else x.astype(float)


def capabilities(name: str) -> list[int]:
    return [89, 90] if name == "fp8e4nv" else [80, 90]


@pytest.mark.parametrize("source", MLIR)
@pytest.mark.parametrize("target", NUMPY)
def test_every_pattern_widens_exactly(source: str, target: str) -> None:
    x = np.arange(256, dtype=np.uint8)
    want = np.array([value_of(int(p), MLIR[source]) for p in x])
    for capability in capabilities(source):
        np.testing.assert_array_equal(numbers(run(x, source, target, capability)), want)


def rounded(size: np.ndarray, name: str, towards_zero: bool = False) -> np.ndarray:
    """The patterns of the numbers nearest to `size`, ties to even, nothing beyond the largest."""
    table = np.array([value_of(p, MLIR[name]) for p in range(LARGEST[name] + 1)])
    above = np.clip(np.searchsorted(table, size, side="right" if towards_zero else "left"), 1, LARGEST[name])
    if towards_zero:
        return np.where(size >= table[-1], LARGEST[name], above - 1)
    low, high = table[above - 1], table[above]
    up = (size - low > high - size) | ((size - low == high - size) & (above % 2 == 0))
    return np.where(size >= table[-1], LARGEST[name], np.where(up, above, above - 1))


def check_narrowing(x: np.ndarray, source: str, target: str, capability: int, towards_zero: bool = False) -> None:
    exact = numbers(x)
    out = run(x, source, target, capability, towards_zero)
    number = ~np.isnan(exact)
    want = rounded(np.abs(exact[number]), target, towards_zero) | np.where(np.signbit(exact[number]), 0x80, 0)
    np.testing.assert_array_equal(out[number], want)
    if target != "fp8e4b15":
        assert np.isnan([value_of(int(p), MLIR[target]) for p in out[~number]]).all()


@pytest.mark.parametrize("target", MLIR)
@pytest.mark.parametrize("source", ["fp16", "bf16"])
def test_all_16_bit_patterns_narrow(source: str, target: str) -> None:
    x = np.arange(65536, dtype=np.uint16).view(NUMPY[source])
    for capability in capabilities(target):
        check_narrowing(x, source, target, capability)


def near_middles(name: str, dtype: Any) -> np.ndarray:
    """All numbers of a format, the middles between them, and the neighbours of those."""
    table = np.array([value_of(p, MLIR[name]) for p in range(LARGEST[name] + 1)])
    middles = ((table[1:] + table[:-1]) / 2).astype(dtype)
    near = [np.nextafter(middles, dtype(side)) for side in (-np.inf, np.inf)]
    spread = np.exp2(np.random.default_rng(4).uniform(-40, 40, 2000)).astype(dtype)
    special = np.array([0, np.inf, np.nan, 1e30], dtype)
    x = np.concatenate([table.astype(dtype), middles, *near, spread, special]).astype(dtype)
    return np.concatenate([x, -x])


@pytest.mark.parametrize("target", MLIR)
@pytest.mark.parametrize("source", ["fp32", "fp64"])
def test_wider_floats_are_rounded_once(source: str, target: str) -> None:
    """Of f64, just beside a middle by less than an f32 can say."""
    for capability in capabilities(target):
        check_narrowing(near_middles(target, NUMPY[source]), source, target, capability)


@pytest.mark.parametrize("target", MLIR)
@pytest.mark.parametrize("source", ["fp16", "fp32"])
def test_towards_zero(source: str, target: str) -> None:
    x = near_middles(target, np.float32)
    with np.errstate(over="ignore"):
        x = x[~np.isnan(x)].astype(NUMPY[source])
    for capability in capabilities(target):
        check_narrowing(x, source, target, capability, towards_zero=True)


@pytest.mark.parametrize(("source", "target"), [(a, b) for a in MLIR for b in MLIR if a != b])
def test_between_formats(source: str, target: str) -> None:
    x = np.arange(256, dtype=np.uint8)
    exact = np.array([value_of(int(p), MLIR[source]) for p in x])
    out = run(x, source, target, 89)
    number = ~np.isnan(exact)
    want = rounded(np.abs(exact[number]), target) | np.where(np.signbit(exact[number]), 0x80, 0)
    np.testing.assert_array_equal(out[number], want)
