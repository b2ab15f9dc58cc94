"""Conversions to 8-bit floats: the interpreter's are those of the targets, beyond the largest number, too."""

from __future__ import annotations

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tritium import knobs

SIZE = 2048
TYPES = [tl.float8e4nv, tl.float8e5, tl.float8e4b8, tl.float8e5b16, tl.float8e4b15]
LARGEST = {"fp8e4nv": (448.0, 0x7E), "fp8e5": (57344.0, 0x7B), "fp8e4b8": (240.0, 0x7F), "fp8e5b16": (57344.0, 0x7F)}


@tritium.jit
def convert(x, bits, T: tl.constexpr, ROUNDING: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, N)
    y = tl.cast(tl.load(x + at), T, fp_downcast_rounding=ROUNDING)
    tl.store(bits + at, y.to(tl.uint8, bitcast=True))


@tritium.jit
def convert_integers(x, bits, T: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(bits + at, tl.load(x + at).to(T).to(tl.uint8, bitcast=True))


@tritium.jit
def through(x, out, T: tl.constexpr, N: tl.constexpr):
    """What has the type already is not converted."""
    at = tl.arange(0, N)
    tl.store(out + at, tl.where(at >= 0, tl.load(x + at).to(T, bitcast=True), 0.0).to(tl.uint8, bitcast=True))


def on(target: str, kernel, x: np.ndarray, *constants) -> np.ndarray:
    bits = np.full(len(x), 0x5A, np.uint8)
    kept = knobs.runtime.interpret
    knobs.runtime.interpret = target == "interpreter"
    try:
        kernel[(1,)](x, bits, *constants, len(x))
    finally:
        knobs.runtime.interpret = kept
    return bits


def numbers(dtype: str) -> np.ndarray:
    rng = np.random.default_rng(8)
    x = rng.standard_normal(SIZE) * np.exp2(rng.integers(-30, 20, SIZE))
    x[:256] = np.concatenate([np.arange(64) * 16.0, -np.arange(64) * 16.0, np.arange(128) * 1024.0])
    x[-10:] = [np.inf, -np.inf, 0.0, -0.0, 464, 465, -480, 61440, 61439, -1e9]
    with np.errstate(over="ignore"):
        return x.astype(dtype)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("rounding", [None, "rtz"])
@pytest.mark.parametrize("ty", TYPES, ids=str)
def test_conversions_are_those_of_cpus(ty, rounding, dtype):
    x = numbers(dtype)
    interpreted, compiled = (on(target, convert, x, ty, rounding) for target in ("interpreter", "cpu"))
    different = np.flatnonzero(interpreted != compiled)
    assert not len(different), (x[different[:8]], interpreted[different[:8]], compiled[different[:8]])


@pytest.mark.parametrize("target", ["interpreter", "cpu"])
@pytest.mark.parametrize("ty", TYPES[:4], ids=str)
def test_what_is_too_large_is_the_largest_number(ty, target):
    largest, bits = LARGEST[str(ty)]
    x = np.array([largest, 2 * largest, 1e30, np.inf, -largest, -2 * largest, -1e30, -np.inf] * 2, np.float32)
    wanted = np.array([*[bits] * 4, *[bits | 0x80] * 4] * 2, np.uint8)
    for rounding in (None, "rtz"):
        assert on(target, convert, x, ty, rounding).tolist() == wanted.tolist()
    integers = np.array([2**20, -(2**20)] * 8, np.int32)
    assert on(target, convert_integers, integers, ty).tolist() == [bits, bits | 0x80] * 8


@pytest.mark.parametrize("target", ["interpreter", "cpu"])
def test_infinities_of_8_bits_stay_what_they_are(target):
    bits = np.array([0x7C, 0xFC, 0x7B, 0xFB] * 4, np.uint8)
    assert on(target, through, bits, tl.float8e5).tolist() == bits.tolist()


@tritium.jit
def constants(filled, converted, scalar, V: tl.constexpr, T: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(filled + at, tl.full([N], V, T).to(tl.uint8, bitcast=True))
    tl.store(converted + at, tl.full([N], V, tl.float32).to(T).to(tl.uint8, bitcast=True))
    tl.store(scalar, tl.full([], V, T).to(tl.uint8, bitcast=True))


@pytest.mark.parametrize("target", ["cpu", "interpreter"])
@pytest.mark.parametrize("ty", TYPES, ids=str)
def test_constants_are_what_conversions_give(ty, target, monkeypatch) -> None:
    """Infinity stays one where the type has it, as in Triton, whose conversions make the largest number of it."""
    monkeypatch.setattr(knobs.runtime, "interpret", target == "interpreter")
    values = [1000.0, -1000.0, 449.0, 464.0, 465.0, 241.0, 249.0, 61440.0, 1e30, 0.0001, 2.6, -2.5, 1e-30, float("nan")]
    for value in [*values, float("inf"), -float("inf"), 1e39]:
        found = [np.full(4, 0x5A, np.uint8) for _ in range(3)]
        constants[(1,)](*found, value, ty, 4)
        filled, converted, scalar = found
        if ty is tl.float8e5 and abs(value) > 1e38:
            converted[:] = 0x7C if value > 0 else 0xFC
        elif value != value and str(ty) in ("fp8e4nv", "fp8e5"):  # which NaN is nobody's business
            filled, converted, scalar = (f & 0x7C for f in found)
        np.testing.assert_array_equal(filled, converted, err_msg=f"{value} in {ty}")
        assert scalar[0] == filled[0]
