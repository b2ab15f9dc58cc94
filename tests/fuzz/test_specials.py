"""Every operation on NaN, infinities, zeros of both signs, subnormals and the ends of integers: the same on every target.

Random programs keep away from most of these, as what follows from them could no longer be told right from wrong.
"""

from __future__ import annotations

import numpy as np
import pytest

import tritium
from tests.fuzz.kernels.compare import LANGUAGE, target
from tests.fuzz.kernels.elements import TYPES, bits_of, values_of
from tests.fuzz.kernels.runner import load

SIZE = 256
ALL = "propagate_nan=tl.PropagateNan.ALL"

#: float results, of which signs of zeros count; those of extremes have either
EXACT = [
    "a + b", "a - b", "a * b", "a / b", "a % b", "a * b + a", "tl.fma(a, b, a)", "(a - b) + (b - a)", "a * 0.5", "a + 1", "-(a * b)",
    "a * 0.0", "a - 0.0", "a + 0.0", "a - a", "a / a", "a / 3.0", "a / 4.0", "1.0 - a", "tl.abs(-a)", "-(-a)", "a - (-b)", "a + (-b)",
    "(-a) * (-b)", "a * 2.0 + a * 2.0", "tl.floor(a)", "tl.ceil(a)", "tl.abs(a)", "-a", "tl.where(a > 0, a, 0.5)",
    "tl.where(a >= 0, a, a * 0.25)", "tl.where(a != a, 1.0, a)",
]  # fmt: skip
EXTREMES = [
    "tl.minimum(a, b)", "tl.maximum(a, b)", f"tl.minimum(a, b, {ALL})", f"tl.maximum(a, b, {ALL})", "tl.maximum(a, 0.0)",
    f"tl.maximum(a, 0.0, {ALL})", "tl.clamp(a, -1.0, 1.0)", f"tl.clamp(a, -1.0, 1.0, {ALL})", "tl.where(a < b, a, b)",
]  # fmt: skip
TRUTHS = [
    "a < b", "a <= b", "a == b", "a != b", "a > b", "a >= b", "(a != a) | (b > 0)", "a.to(tl.int1)", "(a < 1.0) & (a >= -1.0)",
    "~(a < b)", "a == a", "tl.minimum(a, a) == a",
]  # fmt: skip
INTEGERS = [
    "a + b", "a - b", "a * b", "a // (b | 1)", "a % (b | 1)", "tl.minimum(a, b)", "tl.maximum(a, b)", "a << (b & LAST)", "a >> (b & LAST)",
    "a & b", "a | b", "a ^ b", "~a", "-a", "tl.abs(a)", "a < b", "a >= b", "a // 7", "a // 8", "a % 8", "a % 7", "a * 8", "(a << 3) >> 3",
    "tl.cdiv(a, 7)", "tl.cdiv(a, 8)", "(a + 1) > a", "(a + 5) < (b + 5)", "(a - b) < 0", "tl.abs(a - b)", "tl.where(a < 0, -a, a)",
    "(a * 6) // 3", "(a // 8) * 8 + a % 8", "(a & 7) + (a & 112)", "~(a < b)", "a.to(tl.int8)", "a.to(tl.uint8)", "a * 4 // 4",
    "a.to(tl.int16) + b.to(tl.uint16)", "a.to(tl.int32) // (b.to(tl.int32) | 1)", "a.to(tl.uint32) % (b.to(tl.uint32) | 1)",
    "a.to(tl.int64) * b.to(tl.int64) >> 7", "(a != 0) & (b != 0)", "(a > b).to(tl.int32) + (a < b)",
    "a.to(tl.float64) < b.to(tl.float64)", "(a.to(tl.uint32) >> 5).to(tl.int8)", "tl.umulhi(a.to(tl.uint32), b.to(tl.uint32))",
    "tl.umulhi(a.to(tl.uint64), b.to(tl.uint64))",
]  # fmt: skip


def kernel_of(operations: list[str], store: str, folder, name: str):
    """A kernel that stores a row of SIZE results for each operation."""
    lines = [f"    tl.store(out + {k * SIZE} + at, ({text}).to({store}))" for k, text in enumerate(operations)]
    head = [
        "import tritium",
        "import tritium.language as tl",
        "",
        "@tritium.jit",
        "def kernel(x, y, out, LAST: tl.constexpr):",
    ]
    body = [f"    at = tl.arange(0, {SIZE})", "    a, b = tl.load(x + at), tl.load(y + at)", *lines, ""]
    return load("\n".join([*head, *body]), folder, name).kernel


def run(kernel, arrays, count: int, dtype, last: int, where: str) -> np.ndarray:
    out = np.full(count * SIZE, 77, dtype)
    with target(where):
        kernel[(1,)](*arrays, out, last, enable_fp_fusion=False)
    return out.reshape(count, SIZE)


def floats(name: str, rng: np.random.Generator) -> np.ndarray:
    """Bits of any kind, small numbers, and special ones."""
    e = TYPES[name]
    any_bits = rng.integers(0, 2**e.bits - 1, SIZE, dtype=f"u{e.bits // 8}", endpoint=True).view(e.storage)
    special = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 65504.0, -65504.0, 1e-7, 3e38, 1e-40]
    with np.errstate(over="ignore"):
        chosen = bits_of(rng.choice(special, SIZE), e), bits_of(rng.integers(-16, 17, SIZE) / 4, e)
    kind = rng.integers(0, 3, SIZE)
    return np.where(kind == 0, any_bits, np.where(kind == 1, *chosen))


@pytest.mark.parametrize("other", ["cpu", "emulated:90"])
@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64"])
def test_floats(name, other, tmp_path):
    rng, e = np.random.default_rng(4), TYPES[name]
    operations = [*EXACT, *EXTREMES, *TRUTHS]
    if e.bits == 16:  # the language has these for wider types
        operations = [text for text in operations if "floor" not in text and "ceil" not in text]
    raw = [floats(name, rng) for _ in range(2)]
    arrays = [tritium.reinterpret(v, LANGUAGE[name]) if name == "bf16" else v for v in raw]
    kernel = kernel_of(operations, "tl.float64", tmp_path, f"floats_{name}")
    wanted, found = (run(kernel, arrays, len(operations), np.float64, 0, where) for where in ("interpreter", other))
    for text, u, v in zip(operations, wanted, found):
        same = (u == v) & ((np.signbit(u) == np.signbit(v)) | (text in EXTREMES)) | (np.isnan(u) & np.isnan(v))
        at = np.flatnonzero(~same)[:4]
        assert not len(at), (text, *(values_of(r, e)[at] for r in raw), u[at], v[at])


@pytest.mark.parametrize("name", ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"])
def test_integers(name, tmp_path):
    rng, ends = np.random.default_rng(5), np.iinfo(TYPES[name].storage)

    def numbers() -> np.ndarray:
        any_, small = (
            rng.integers(ends.min, ends.max, SIZE, ends.dtype, endpoint=True),
            rng.integers(max(ends.min, -9), 10, SIZE),
        )
        some = rng.choice(np.array([ends.min, ends.max, ends.min + 1, ends.max - 1, 0, 1], ends.dtype), SIZE)
        kind = rng.integers(0, 3, SIZE)
        return np.where(kind == 0, any_, np.where(kind == 1, small.astype(ends.dtype), some))

    arrays = [numbers(), numbers()]
    kernel = kernel_of(INTEGERS, "tl.int64", tmp_path, f"integers_{name}")
    wanted, found = (
        run(kernel, arrays, len(INTEGERS), np.int64, ends.bits - 1, where) for where in ("interpreter", "cpu")
    )
    for text, u, v in zip(INTEGERS, wanted, found):
        at = np.flatnonzero(u != v)[:4]
        assert not len(at), (text, *(r[at] for r in arrays), u[at], v[at])
