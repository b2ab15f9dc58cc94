"""Matrix products in loops: types, shapes, transposes, warps, stages and precisions, against float64.

What is drawn here is the same on every machine (but for TRITIUM_TEST_SEED): a GPU runs all of it, the emulator a share.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.conftest import SEED
from tests.e2e.kernels import kernel_from

torch = pytest.importorskip("torch")

LOOP = """
@triton.jit
def kernel(a_ptr, b_ptr, c_ptr, K, a_m, a_k, b_k, b_n, M: tl.constexpr, N: tl.constexpr, BLOCK: tl.constexpr,
           SUM: tl.constexpr, PRECISION: tl.constexpr):
    i, j, ks = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BLOCK)
    acc = tl.zeros((M, N), SUM)
    for k in range(0, K, BLOCK):
        at = k + ks
        a = tl.load(a_ptr + i[:, None] * a_m + at[None, :] * a_k, mask=at[None, :] < K, other=0)
        b = tl.load(b_ptr + at[:, None] * b_k + j[None, :] * b_n, mask=at[:, None] < K, other=0)
        acc = tl.dot(a, b, acc, input_precision=PRECISION, out_dtype=SUM)
    tl.store(c_ptr + i[:, None] * N + j[None, :], acc)
"""

#: How far off a sum may be, in parts of |a| @ |b|: what rounding operands and adding K terms costs. Tensor cores add
#: with truncation (Fasi et al., "Numerical behavior of NVIDIA tensor cores", 2021); those of Hopper keep 13 bits behind
#: the point for fp8 ("DeepSeek-V3 Technical Report", 3.3.2).
PRECISIONS = {"ieee": 2.0**-20, "tf32": 2.0**-9.5, "tf32x3": 2.0**-19, "bf16x3": 2.0**-15, "bf16x6": 2.0**-19}
EXACT = {"i8": 0.0, "f64": 2.0**-50}
TYPES = {
    "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64, "i8": torch.int8,
    "e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2,
}  # fmt: skip
SUMS = {"f32": torch.float32, "f16": torch.float16, "i32": torch.int32, "f64": torch.float64}
SHARED = 200 << 10  # bytes of operands in all stages: what an H200 has, less some


class Case(NamedTuple):
    dtype: str
    sum: str
    precision: str
    shape: tuple[int, int, int]
    turned: tuple[bool, bool]
    trips: int
    warps: int
    stages: int

    def __str__(self) -> str:
        m, n, k = self.shape
        turned = "".join("t" if t else "n" for t in self.turned)
        return (
            f"{self.dtype}-{self.sum}-{self.precision}-{m}x{n}x{k}-{turned}-{self.trips}-w{self.warps}-s{self.stages}"
        )


def _draw(rng: random.Random) -> Case:
    dtype = rng.choice(list(TYPES))
    precision = rng.choice(list(PRECISIONS)) if dtype == "f32" else "ieee"
    total = {"i8": "i32", "f64": "f64", "f16": rng.choice(("f32", "f32", "f16"))}.get(dtype, "f32")
    sizes = (16, 32, 64, 128, 256)
    m, n, k = (rng.choice(sizes) for _ in range(3))
    size = TYPES[dtype].itemsize
    k = max(k, 32 // size) if size <= 2 else min(k, 64)
    stages = rng.choice((1, 2, 3, 4))
    return Case(
        dtype, total, precision, (m, n, k), (rng.random() < 0.5, rng.random() < 0.5), rng.choice((0, 1, 2, 3, 5)),
        rng.choice((1, 2, 4, 4, 8)), stages,
    )  # fmt: skip


def _fits(case: Case) -> bool:
    """Whether operands and sums are where they can be kept."""
    m, n, k = case.shape
    size = TYPES[case.dtype].itemsize
    threads = 32 * case.warps
    held = m * n * SUMS[case.sum].itemsize // 4 / threads
    operands = (m + n) * k * size / 4 / threads
    # Without tensor cores (f32 in full, f64) and below four warps, operands are in registers, too.
    light = held <= 128 and operands <= 64 and (case.precision != "ieee" or size < 4 or m * n * k <= 64**3)
    return light and (m + n) * k * size * max(case.stages, 1) <= SHARED


def _cases(count: int) -> list[Case]:
    rng = random.Random(SEED)
    found: dict[str, Case] = {}
    while len(found) < count:
        case = _draw(rng)
        if _fits(case):
            found.setdefault(str(case), case)
    return list(found.values())


def _values(rng: torch.Generator, shape: tuple[int, int], dtype: torch.dtype) -> torch.Tensor:
    if dtype is torch.int8:
        return torch.randint(-128, 128, shape, generator=rng, dtype=torch.int8)
    return torch.randn(shape, generator=rng, dtype=torch.float32).to(dtype)


def _operand(rng: torch.Generator, rows: int, columns: int, dtype: torch.dtype, turned: bool) -> torch.Tensor:
    """A matrix whose rows, or if it is turned, columns, are contiguous, with a gap behind each."""
    shape = (columns, rows + 16) if turned else (rows, columns + 16)
    values = _values(rng, shape, dtype)
    return values[:, :rows].T if turned else values[:, :columns]


def _multiply(case: Case, folder: Path, seed: int, kernel: Any = None) -> tuple[torch.Tensor, torch.Tensor, Any]:
    """(the result, what bounds its error, the reference)."""
    import tritium.language as tl

    m, n, block = case.shape
    rng = torch.Generator().manual_seed(seed)
    dtype, total = TYPES[case.dtype], SUMS[case.sum]
    depth = max(case.trips * block - (3 if case.trips > 1 else 0), 0)  # the last block is not full
    a = _operand(rng, m, depth, dtype, case.turned[0])
    b = _operand(rng, depth, n, dtype, case.turned[1])
    c = torch.full((m, n), 77, dtype=total) if total is torch.int32 else torch.full((m, n), float("nan"), dtype=total)
    types = {"f32": tl.float32, "f16": tl.float16, "i32": tl.int32, "f64": tl.float64}
    kernel = kernel or kernel_from(LOOP, folder)
    kernel[(1,)](
        a, b, c, depth, a.stride(0), a.stride(1), b.stride(0), b.stride(1), M=m, N=n, BLOCK=block,
        SUM=types[case.sum], PRECISION=case.precision, num_warps=case.warps, num_stages=case.stages,
    )  # fmt: skip
    left, right = a.double(), b.double()
    share = EXACT.get(case.dtype, PRECISIONS[case.precision])
    if case.dtype in ("e4m3", "e5m2"):  # each step of 32 terms is cut off once
        share = 2.0**-13 * (1 + depth // 32)
    bound = share * (left.abs() @ right.abs())
    if total is torch.float16:
        bound = bound + 2.0**-10 * (case.trips * block // 16 + 1) * (left.abs() @ right.abs()) + 2.0**-24
    return c, bound, left @ right


@pytest.mark.share(60)
@pytest.mark.parametrize("case", _cases(360), ids=str)
def test_products(case: Case, seed: int, tmp_path: Path) -> None:
    c, bound, expected = _multiply(case, tmp_path, seed)
    error = (c.double() - expected).abs()
    assert bool((error <= bound).all()), f"off by up to {(error / bound.clamp_min(1e-300)).max():.3g} times the bound"


#: Products through pipelines: by mma.sync and by wgmma, with operands of 8, 16 and 32 bits.
PIPED = [("f16", "f32", "ieee", (64, 64, 32), 4), ("f16", "f32", "ieee", (16, 32, 64), 2),
         ("e5m2", "f32", "ieee", (64, 32, 64), 4), ("f32", "f32", "tf32", (64, 64, 32), 4),
         ("i8", "i32", "ieee", (128, 64, 64), 8)]  # fmt: skip


@pytest.mark.share(8)
@pytest.mark.parametrize("trips", range(8))
@pytest.mark.parametrize("piped", PIPED, ids=lambda p: f"{p[0]}-{p[3][0]}x{p[3][1]}x{p[3][2]}")
def test_the_depth_of_a_pipeline_changes_nothing(piped: tuple[Any, ...], trips: int, seed: int, tmp_path: Path) -> None:
    dtype, total, precision, shape, warps = piped
    kernel = kernel_from(LOOP, tmp_path)
    results = []
    for stages in range(1, 6):
        case = Case(dtype, total, precision, shape, (False, True), trips, warps, stages)
        c, bound, expected = _multiply(case, tmp_path, seed, kernel)
        assert bool(((c.double() - expected).abs() <= bound).all()), f"wrong with {stages} stages"
        results.append(c)
    assert all(torch.equal(c, results[0]) for c in results), "results differ between depths"


CHAIN = """
@triton.jit
def kernel(q_ptr, k_ptr, v_ptr, o_ptr, n, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    i, j, d = tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    q = tl.load(q_ptr + i[:, None] * D + d[None, :])
    acc = tl.zeros((M, D), tl.float32)
    peak = tl.full((M,), -1e30, tl.float32)
    total = tl.zeros((M,), tl.float32)
    for start in range(0, n, N):
        at = start + j
        k = tl.load(k_ptr + at[:, None] * D + d[None, :], mask=at[:, None] < n, other=0.0)
        v = tl.load(v_ptr + at[:, None] * D + d[None, :], mask=at[:, None] < n, other=0.0)
        s = tl.where(at[None, :] < n, tl.dot(q, k.T), -1e30)
        new = tl.maximum(peak, tl.max(s, 1))
        p = tl.exp2(s - new[:, None])
        scale = tl.exp2(peak - new)
        total = total * scale + tl.sum(p, 1)
        acc = tl.dot(p.to(v.dtype), v, acc * scale[:, None])
        peak = new
    tl.store(o_ptr + i[:, None] * D + d[None, :], acc / total[:, None])
"""


@pytest.mark.share(12)
@pytest.mark.parametrize("keys", [1, 32, 64, 100, 200])
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
@pytest.mark.parametrize(("m", "d", "warps"), [(64, 32, 4), (128, 64, 4), (128, 128, 8), (16, 64, 2)])
def test_chained_products(m: int, d: int, warps: int, dtype: str, keys: int, seed: int, tmp_path: Path) -> None:
    rng = torch.Generator().manual_seed(seed)
    ty = TYPES[dtype]
    q, k, v = _values(rng, (m, d), ty) * 0.3, _values(rng, (keys, d), ty), _values(rng, (keys, d), ty)
    kernel = kernel_from(CHAIN, tmp_path)
    results = []
    for stages in (1, 2, 3):
        out = torch.full((m, d), float("nan"))
        kernel[(1,)](q, k, v, out, keys, M=m, N=32, D=d, num_warps=warps, num_stages=stages)
        results.append(out)
    weights = torch.softmax((q.double() @ k.double().T) * 0.6931471805599453, 1)
    # Weights are rounded to the operands' type; they are positive and sum up to 1.
    bound = 2 * (2.0**-10 if dtype == "f16" else 2.0**-7) * (weights @ v.double().abs()) + 1e-6
    for stages, out in enumerate(results, 1):
        error = (out.double() - weights @ v.double()).abs()
        assert bool((error <= bound).all()), f"wrong with {stages} stages: {(error / bound).max():.3g} times the bound"
    assert all(torch.equal(out, results[0]) for out in results), "results differ between depths"


@pytest.mark.gpu
@pytest.mark.share(100000)
@pytest.mark.parametrize("piped", PIPED, ids=lambda p: f"{p[0]}-{p[3][0]}x{p[3][1]}x{p[3][2]}")
def test_results_do_not_move(piped: tuple[Any, ...], seed: int, tmp_path: Path, device: str) -> None:
    """A hundred runs are equal bit for bit; only hardware can tell."""
    if device != "cuda":
        pytest.skip("the emulator has one order of events")
    dtype, total, precision, shape, warps = piped
    kernel = kernel_from(LOOP, tmp_path)
    case = Case(dtype, total, precision, shape, (False, True), 7, warps, 4)
    first, _, _ = _multiply(case, tmp_path, seed, kernel)
    for _ in range(99):
        assert torch.equal(_multiply(case, tmp_path, seed, kernel)[0], first)
