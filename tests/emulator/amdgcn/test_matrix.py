"""MFMA and WMMA against NumPy, with the elements of each lane written down from the ISA documents' tables."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator.amdgcn.kernels import dword, run
from tritium.emulator import AssemblyError, EmulationError

F32 = np.float32


def pieces(count: int) -> list[int]:
    """Dwords in accesses of at most four."""
    return [4] * (count // 4) + ([count % 4] if count % 4 else [])


def moves(kind: str, first: int, count: int, chip: str, base: str, file: str = "v") -> str:
    """Load or store `count` registers of a lane, which are adjacent in memory; v1 is the work-item."""
    lines, at = [f"\tv_mul_u32_u24_e32 v2, {4 * count}, v0"], 0
    for size in pieces(count):
        register = f"{file}{first + at}" if size == 1 else f"{file}[{first + at}:{first + at + size - 1}]"
        operands = f"{register}, v2" if kind == "load" else f"v2, {register}"
        lines.append(f"\tglobal_{kind}_{dword(chip, size)} {operands}, {base} offset:{4 * at}")
        at += size
    return "\n".join(lines)


def span(first: int, count: int, file: str = "v") -> str:
    return f"{file}{first}" if count == 1 else f"{file}[{first}:{first + count - 1}]"


def multiply(name: str, a: np.ndarray, b: np.ndarray, c: np.ndarray, chip: str, modifiers: str = "", file: str = "v"):
    """Execute a matrix instruction on registers of lanes: arrays (lanes, dwords). Returns D's."""
    counts = [x.shape[1] for x in (a, b, c)]
    first = [10, 20, 0 if file == "a" else 40]
    start = [
        moves("load", first[n], counts[n], chip, f"s[{8 + 2 * n}:{9 + 2 * n}]", "v" if n < 2 else file)
        for n in range(3)
    ]
    out = np.zeros(c.shape, np.uint32)
    d = span(first[2], counts[2], file)
    body = "\n".join(start) + "\n\ts_waitcnt vmcnt(0)\n"
    body += f"\t{name} {d}, {span(10, counts[0])}, {span(20, counts[1])}, {d} {modifiers}\n\ts_nop 15\n\ts_nop 15\n"
    body += moves("store", first[2], counts[2], chip, "s[14:15]", file)
    arrays = [np.ascontiguousarray(x).view(np.uint32) for x in (a, b, c)]
    run(body, *arrays, out, chip=chip, accumulators=64 if file == "a" else 0)
    return out


def packed(elements: np.ndarray, ty: str) -> np.ndarray:
    """Elements of lanes (lanes, count) as dwords."""
    if ty == "bf16":
        return np.ascontiguousarray((elements.astype(F32).view(np.uint32) >> 16).astype(np.uint16)).view(np.uint32)
    if ty in ("fp8", "bf8"):
        codes = {0.0: 0, **{s * v: eight_bits(s * v, ty) for v in (0.5, 1, 2, 3, 4) for s in (1, -1)}}
        return np.vectorize(codes.__getitem__)(elements).astype(np.uint8).view(np.uint32)
    dtype = {"f32": F32, "xf32": F32, "f16": np.float16, "i8": np.int8, "f64": np.float64}[ty]
    return np.ascontiguousarray(elements.astype(dtype)).view(np.uint32)


def eight_bits(value: float, ty: str) -> int:
    """The code of a small number in E4M3FNUZ or E5M2FNUZ."""
    mantissa, bias = (3, 8) if ty == "fp8" else (2, 16)
    significand, exponent = np.frexp(abs(value))
    fraction = int((significand * 2 - 1) * (1 << mantissa))
    return (128 if value < 0 else 0) | (int(exponent) - 1 + bias) << mantissa | fraction


MFMA = [
    ("f32_32x32x8_f16", 32, 8, 1, "f16"),
    ("f32_16x16x16_f16", 16, 16, 1, "f16"),
    ("f32_32x32x8_bf16", 32, 8, 1, "bf16"),
    ("f32_16x16x16_bf16", 16, 16, 1, "bf16"),
    ("f32_32x32x2_f32", 32, 2, 1, "f32"),
    ("f32_16x16x4_f32", 16, 4, 1, "f32"),
    ("f32_16x16x8_xf32", 16, 8, 1, "xf32"),
    ("f32_32x32x4_xf32", 32, 4, 1, "xf32"),
    ("i32_32x32x16_i8", 32, 16, 1, "i8"),
    ("i32_16x16x32_i8", 16, 32, 1, "i8"),
    ("f32_16x16x32_fp8_fp8", 16, 32, 1, "fp8"),
    ("f32_32x32x16_bf8_bf8", 32, 16, 1, "bf8"),
    ("f32_32x32x4_2b_f16", 32, 4, 2, "f16"),
    ("f32_16x16x4_4b_f16", 16, 4, 4, "f16"),
    ("f32_4x4x4_16b_f16", 4, 4, 16, "f16"),
    ("f32_32x32x1_2b_f32", 32, 1, 2, "f32"),
    ("f64_16x16x4_f64", 16, 4, 1, "f64"),
    ("f64_4x4x4_4b_f64", 4, 4, 4, "f64"),
]


def operand_place(
    lane: int, element: int, n: int, k: int, blocks: int, per_lane: int, f64: bool
) -> tuple[int, int, int]:
    """(block, row or column, k) of an element of A or B."""
    if f64 and blocks == 4:
        return lane // 4 % 4, lane % 4, lane // 16
    block = lane // n % blocks
    return block, lane % n, lane // (n * blocks) * per_lane + element


def result_place(lane: int, element: int, n: int, blocks: int, f64: bool) -> tuple[int, int, int]:
    """(block, row, column) of an element of D."""
    if f64:
        return (lane // 4 % 4, lane // 16, lane % 4) if blocks == 4 else (0, lane // 16 + 4 * element, lane % 16)
    if n == 4:
        return lane // 4, element, lane % 4
    if n == 16:
        return element // 4, lane // 16 * 4 + element % 4, lane % 16
    within = element % 16
    return element // 16, within // 4 * 8 + lane // 32 * 4 + within % 4, lane % 32


@pytest.mark.parametrize("file", ["v", "a"])
@pytest.mark.parametrize("name, n, k, blocks, ty", MFMA)
def test_mfma(name, n, k, blocks, ty, file, seed):
    rng = np.random.default_rng(seed)
    f64, integer = ty == "f64", ty == "i8"
    a, b = rng.integers(-4 if ty[1:] != "p8" else -2, 5 if ty[1:] != "p8" else 3, (2, blocks, n, k)).astype(float)
    c = rng.integers(-100, 100, (blocks, n, n)).astype(float)
    per_lane = n * k * blocks // 64
    places = [[operand_place(lane, e, n, k, blocks, per_lane, f64) for e in range(per_lane)] for lane in range(64)]
    results = [[result_place(lane, e, n, blocks, f64) for e in range(n * n * blocks // 64)] for lane in range(64)]
    take = lambda x, where: np.array([[x[p] for p in row] for row in where])  # noqa: E731
    sums = "f64" if f64 else "i32" if integer else "f32"
    start = take(c, results)
    dtype = {"f64": np.float64, "i32": np.int32, "f32": F32}[sums]
    raw = np.ascontiguousarray(start.astype(dtype)).view(np.uint32)
    got = multiply(f"v_mfma_{name}", packed(take(a, places), ty), packed(take(b, places), ty), raw, "gfx942", file=file)
    want = np.einsum("bik,bjk->bij", a, b) + c
    np.testing.assert_array_equal(got.view(dtype), take(want, results))


def test_mfma_of_inexact_numbers(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((2, 64, 4)).astype(np.float16)
    got = multiply(
        "v_mfma_f32_32x32x8_f16", a.view(np.uint32), b.view(np.uint32), np.zeros((64, 16), np.uint32), "gfx942"
    )
    rows = lambda x: x.reshape(2, 32, 4).transpose(1, 0, 2).reshape(32, 8).astype(float)  # noqa: E731
    want = rows(a) @ rows(b).T
    lane, e = np.arange(64)[:, None], np.arange(16)[None, :]
    np.testing.assert_allclose(
        got.view(F32), want[e // 4 * 8 + lane // 32 * 4 + e % 4, lane % 32], rtol=1e-6, atol=1e-6
    )


def test_mfma_rejects_wrong_numbers_of_registers():
    with pytest.raises(AssemblyError, match="A must be 2 registers, not 1"):
        run("\tv_mfma_f32_32x32x8_f16 v[0:15], v20, v[22:23], 0", np.zeros(1, np.uint32), assemble=False)


def wmma_operand(matrix: np.ndarray, ty: str) -> np.ndarray:
    """A (rows) or B (columns, transposed) for 32 lanes: both halves hold the same."""
    if ty == "iu4":
        codes = matrix.astype(np.int64) & 15
        words = (codes.reshape(16, 2, 8) << 4 * np.arange(8)).sum(axis=2).astype(np.uint32)
    elif ty == "iu8":
        words = np.ascontiguousarray((matrix.astype(np.int64) & 255).astype(np.uint8)).view(np.uint32)
    else:
        words = packed(matrix, ty)
    return np.concatenate([words, words])


@pytest.mark.parametrize("ty, result", [("f16", "f32"), ("bf16", "f32"), ("iu8", "i32"), ("iu4", "i32")])
@pytest.mark.parametrize("signs", [(0, 0), (1, 0), (1, 1)])
def test_wmma(ty, result, signs, seed):
    rng = np.random.default_rng(seed)
    integer = result == "i32"
    high = {"iu8": 256, "iu4": 16}.get(ty, 8)
    a, b = rng.integers(0, high, (2, 16, 16)).astype(float)
    c = rng.integers(-100, 100, (16, 16)).astype(float)
    lane, r = np.arange(32)[:, None], np.arange(8)[None, :]
    row, column = 2 * r + lane // 16, lane % 16
    dtype = np.int32 if integer else F32
    start = np.ascontiguousarray(c[row, column].astype(dtype)).view(np.uint32)
    modifiers = f"neg_lo:[{signs[0]},{signs[1]},0]"
    if not integer:
        modifiers += f" neg_hi:[{signs[0]},{signs[1]},0]"
    got = multiply(
        f"v_wmma_{result}_16x16x16_{ty}", wmma_operand(a, ty), wmma_operand(b, ty), start, "gfx1100", modifiers
    )
    if integer:
        a, b = (np.where(s & (x >= high // 2), x - high, x) for x, s in zip((a, b), signs))
    else:
        a, b = (-x if s else x for x, s in zip((a, b), signs))
    np.testing.assert_array_equal(got.view(dtype), (a @ b.T + c)[row, column])


def test_wmma_of_halves_writes_one_half(seed):
    rng = np.random.default_rng(seed)
    a, b, c = rng.integers(-3, 4, (3, 16, 16)).astype(float)
    lane, r = np.arange(32)[:, None], np.arange(8)[None, :]
    row, column = 2 * r + lane // 16, lane % 16
    halves = c[row, column].astype(np.float16).view(np.uint16).astype(np.uint32)
    for select, shift, keep in (("", 0, 0xABCD0000), (" op_sel:[0,0,1]", 16, 0xABCD)):
        start = halves << shift | keep
        got = multiply(
            "v_wmma_f16_16x16x16_f16", wmma_operand(a, "f16"), wmma_operand(b, "f16"), start, "gfx1100", select
        )
        value = (got >> shift & 0xFFFF).astype(np.uint16).view(np.float16)
        np.testing.assert_array_equal(value, (a @ b.T + c)[row, column])
        assert (got & (0xFFFF0000 >> shift) == keep).all()


def test_wmma_needs_replicated_operands(seed):
    a = wmma_operand(np.ones((16, 16)), "f16")
    wrong = a.copy()
    wrong[20, 3] ^= 1
    with pytest.raises(EmulationError, match="B of lanes 16-31 differs"):
        multiply("v_wmma_f32_16x16x16_f16", a, wrong, np.zeros((32, 8), np.uint32), "gfx1100")
