"""one-trip-loops: kernels compute the same bits on both sides of each condition of the version."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.e2e.kernels import kernel_from

torch = pytest.importorskip("torch")

BLOCK = 128
SWITCH = "one-trip-loops"

LAYER_NORM = """
@triton.jit
def kernel(X, Y, W, Mean, Rstd, N, eps, BLOCK: tl.constexpr):
    mean = 0
    _mean = tl.zeros([BLOCK], dtype=tl.float32)
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        _mean += tl.load(X + cols, mask=cols < N, other=0.).to(tl.float32)
    mean = tl.sum(_mean, axis=0) / N
    _var = tl.zeros([BLOCK], dtype=tl.float32)
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        x = tl.load(X + cols, mask=cols < N, other=0.).to(tl.float32)
        x = tl.where(cols < N, x - mean, 0.)
        _var += x * x
    rstd = 1 / tl.sqrt(tl.sum(_var, axis=0) / N + eps)
    tl.store(Mean, mean)
    tl.store(Rstd, rstd)
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        w = tl.load(W + cols, mask=cols < N)
        x = tl.load(X + cols, mask=cols < N, other=1.).to(tl.float32)
        tl.store(Y + cols, (x - mean) * rstd * w + mean, mask=cols < N)
"""

CROSS_ENTROPY = """
@triton.jit
def kernel(X, Loss, target, N, BLOCK: tl.constexpr):
    m = float("-inf")
    d = 0.0
    x_target = tl.load(X + target).to(tl.float32)
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        x = tl.load(X + cols, mask=cols < N, other=float("-inf")).to(tl.float32)
        m_new = tl.maximum(m, tl.max(x))
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new))
        m = m_new
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        x = tl.load(X + cols, mask=cols < N, other=float("-inf")).to(tl.float32)
        tl.store(X + cols, tl.exp(x - m) / d - tl.where(cols == target, 1.0, 0.0), mask=cols < N)
    tl.debug_barrier()
    tl.store(Loss, m + tl.log(d) - x_target)
    tl.store(Loss + 1, m)
"""

KINDS = ("random", "special", "tiny")


def values(kind: str, count: int, seed: int) -> torch.Tensor:
    """Normal values, those with infinities, NaNs and zeros of both signs among them, or ones whose squares underflow."""
    rng = torch.Generator().manual_seed(seed)
    x = torch.randn(count, generator=rng)
    if kind == "special":
        chosen = torch.tensor([float("inf"), float("-inf"), float("nan"), 0.0, -0.0])
        at = torch.randperm(count, generator=rng)[: count // 4]
        x[at] = chosen[torch.randint(5, (len(at),), generator=rng)]
    return x * 1e-7 if kind == "tiny" else x


def bits(tensor: torch.Tensor) -> torch.Tensor:
    """The bits of floats, in which all NaNs are one."""
    whole = tensor.view({2: torch.int16, 4: torch.int32}[tensor.element_size()])
    return torch.where(tensor.isnan(), torch.full_like(whole, -1), whole)


@pytest.mark.share(6)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 3])
def test_layer_norm_keeps_its_bits(n: int, kind: str, seed: int, tmp_path: Path) -> None:
    x, w = values(kind, 3 * BLOCK, seed).half(), values("random", 3 * BLOCK, seed + 1).half()
    kernel = kernel_from(LAYER_NORM, tmp_path)
    found = []
    for without in ("", SWITCH):
        y, sums = torch.full((3 * BLOCK,), 7.0).half(), torch.full((2,), 7.0)
        kernel[(1,)](x, y, w, sums[:1], sums[1:], n, 1e-5, BLOCK=BLOCK, num_warps=2, without=without)
        found.append((bits(y), bits(sums)))
    assert all(torch.equal(a, b) for a, b in zip(*found))


@pytest.mark.share(6)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [5, BLOCK, BLOCK + 1])
def test_cross_entropy_in_place_keeps_its_bits(n: int, kind: str, seed: int, tmp_path: Path) -> None:
    x = values(kind, 2 * BLOCK, seed)
    kernel = kernel_from(CROSS_ENTROPY, tmp_path)
    found = []
    for without in ("", SWITCH):
        row, loss = x.clone(), torch.full((2,), 7.0)
        kernel[(1,)](row, loss, 3, n, BLOCK=BLOCK, num_warps=2, without=without)
        found.append((bits(row), bits(loss)))
    assert all(torch.equal(a, b) for a, b in zip(*found))


ALIAS = """
@triton.jit
def kernel(X, Y, N, at, BLOCK: tl.constexpr):
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        total += tl.load(X + cols, mask=cols < N, other=0.)
    tl.store(X + at, 7.0)
    tl.debug_barrier()
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        tl.store(Y + cols, tl.load(X + cols, mask=cols < N, other=0.) + total, mask=cols < N)
"""


@pytest.mark.share(6)
@pytest.mark.parametrize("barrier", [True, False], ids=["barrier", "no-barrier"])
@pytest.mark.parametrize("at", [-8, -1, 0, 31, 32, 40])
def test_a_store_into_the_row_is_seen_by_later_loads(at: int, barrier: bool, tmp_path: Path) -> None:
    text = ALIAS if barrier else ALIAS.replace("    tl.debug_barrier()\n", "")
    kernel = kernel_from(text, tmp_path)
    memory = torch.arange(64, dtype=torch.float32)
    found = []
    for without in ("", SWITCH):
        array, out = memory.clone(), torch.zeros(32)
        kernel[(1,)](array[8:], out, 32, at, BLOCK=32, num_warps=1, without=without)
        found.append((array, out))
    assert all(torch.equal(a, b) for a, b in zip(*found))
    expected = memory[8:40] * 2
    if 0 <= at < 32:
        expected[at] = 7.0 + memory[8 + at]
    assert torch.equal(found[0][1], expected)


def program(seed: int) -> str:
    """Loops over the same row, of random expressions whose multiplications and additions may be contracted."""
    rng = random.Random(seed)
    lines = ["@triton.jit", "def kernel(X, Y, S, N, BLOCK: tl.constexpr):", "    s = 0.5"]
    scalars, tensors = ["s", "2.0"], ["tl.zeros([BLOCK], tl.float32)", "tl.full([BLOCK], 1.0, tl.float32)"]
    for k in range(rng.choice((2, 2, 3))):
        lines += [f"    a{k} = {rng.choice(tensors)}{rng.choice(('', f' * {rng.choice(scalars)}'))}"]
        lines += ["    for off in range(0, N, BLOCK):", "        cols = off + tl.arange(0, BLOCK)"]
        lines += [f"        x = tl.load(X + cols, mask=cols < N, other={rng.choice(('0.0', '1.0'))})"]
        values = ["x"]
        for t in range(rng.randint(1, 3)):
            a, b, c = rng.choice(values), rng.choice(values + scalars), rng.choice(values)
            kinds = (
                f"{a} * {b}",
                f"{a} + {b}",
                f"{a} * {b} - {c}",
                f"tl.maximum({a}, {b})",
                f"{a} / {b}",
                f"tl.exp({a})",
            )
            lines += [f"        t{t} = {rng.choice(kinds)}"]
            values.append(f"t{t}")
        last = values[-1]
        lines += ["        " + rng.choice((f"a{k} += {last}", f"a{k} = {last} * x", f"a{k} += {last} * x"))]
        tensors.append(f"a{k}")
        lines += [f"    s{k} = tl.sum(a{k}){rng.choice(('', ' / N', ' * 0.5'))}", f"    tl.store(S + {k}, s{k} + 0.25)"]
        scalars.append(f"s{k}")
    lines += [f"    tl.store(Y + {k} * BLOCK + tl.arange(0, BLOCK), a{k})" for k in range(len(tensors) - 2)]
    return "\n".join(lines)


@pytest.mark.share(10)
@pytest.mark.parametrize("number", range(40))
def test_random_loops_keep_their_bits(number: int, seed: int, tmp_path: Path) -> None:
    kernel = kernel_from(program(seed + number), tmp_path)
    x = values(KINDS[number % 2], 80, seed)
    for n in (37, 65):
        found = []
        for without in ("", SWITCH):
            y, sums = torch.full((192,), 7.0), torch.full((4,), 7.0)
            kernel[(1,)](x, y, sums, n, BLOCK=64, num_warps=1, without=without)
            found.append((bits(y), bits(sums)))
        assert all(torch.equal(a, b) for a, b in zip(*found)), n
