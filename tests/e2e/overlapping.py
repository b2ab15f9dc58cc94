"""Kernels whose loops load iterations ahead, and what they compute; every case has a number of iterations and a depth.

    got, expected = CASES["gathered"](trips, stages)

Loads by addresses that were loaded, in branches, of single numbers, by pointers and numbers that the loop carries, with
values for what is masked, in a loop inside of another, for two products that read a tile each in its way, and for no
product at all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tritium
import tritium.language as tl

M, N, K, ROW = 64, 32, 32, 128


@tritium.jit
def _gathered(table, rows, w, out, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, STAGES: tl.constexpr):
    m, j, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    acc = tl.zeros((M, N), tl.float32)
    for i in tl.range(0, n, num_stages=STAGES):
        row = tl.load(rows + i * M + m)
        a = tl.load(table + row[:, None] * K + k[None, :])
        b = tl.load(w + (i * K + k)[:, None] * N + j[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(out + m[:, None] * N + j[None, :], acc)


@tritium.jit
def _branches(
    a_ptr, b_ptr, out, n, limit, stride, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, STAGES: tl.constexpr
):
    m, j, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    acc = tl.zeros((M, N), tl.float32)
    count = 0
    for i in tl.range(0, n, num_stages=STAGES):
        a = tl.load(a_ptr + m[:, None] * stride + (i * K + k)[None, :])
        if i >= limit:
            b = tl.load(b_ptr + (i * K + k)[:, None] * N + j[None, :])
            count += i
        else:
            b = tl.full((K, N), 1.0, tl.float16)
        acc = tl.dot(a, b, acc)
        if i == 2:
            tl.store(out + M * N + j, tl.full((N,), 3.0, tl.float32) + i)
    tl.store(out + m[:, None] * N + j[None, :], acc + count)


@tritium.jit
def _nested(
    a_ptr, b_ptr, out, tiles, n, stride, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, STAGES: tl.constexpr
):
    m, j, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    at = a_ptr + m[:, None] * stride + k[None, :]
    for t in range(tiles):
        acc = tl.zeros((M, N), tl.float32)
        beside = b_ptr + k[:, None] * N + j[None, :]
        for _ in tl.range(0, n, num_stages=STAGES):
            acc = tl.dot(tl.load(at), tl.load(beside), acc)
            at += K
            beside += K * N
        at += M * stride - n * K
        tl.store(out + t * M * N + m[:, None] * N + j[None, :], acc)


@tritium.jit
def _softmax(x, out, rows, columns, B: tl.constexpr, STAGES: tl.constexpr):
    c = tl.arange(0, B)
    for r in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        v = tl.load(x + r * columns + c, mask=c < columns, other=-float("inf"))
        v = tl.exp(v - tl.max(v, 0))
        tl.store(out + r * columns + c, v / tl.sum(v, 0), mask=c < columns)


@tritium.jit
def _scaled(x, scales, out, n, B: tl.constexpr, STAGES: tl.constexpr):
    c = tl.arange(0, B)
    acc = tl.zeros((B,), tl.float32)
    last = 0.0
    for i in tl.range(0, n, num_stages=STAGES):
        scale = tl.load(scales + i)
        acc += tl.load(x + i * B + c) * scale
        last = scale
    tl.store(out + c, acc + last)


@tritium.jit
def _linked(following, x, out, start, n, B: tl.constexpr, STAGES: tl.constexpr):
    c = tl.arange(0, B)
    acc = tl.zeros((B,), tl.float32)
    at = start
    total = 0
    for _ in tl.range(0, n, num_stages=STAGES):
        acc = acc * 0.5 + tl.load(x + at * B + c)
        at = tl.load(following + at)
        total += at
    tl.store(out + c, acc + total)


@tritium.jit
def _narrow(x, y, out, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, STAGES: tl.constexpr):
    """Addresses two apart: no copy of 4 bytes fits."""
    m, j, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    acc = tl.zeros((M, N), tl.float32)
    for i in tl.range(0, n, num_stages=STAGES):
        a = tl.load(x + i * M * K * 2 + (m[:, None] * K + k[None, :]) * 2, mask=m[:, None] >= i, other=2.0)
        b = tl.load(y + (i * K + k)[:, None] * N + j[None, :], mask=k[:, None] != i, other=-1.0)
        acc = tl.dot(a, b, acc)
    tl.store(out + m[:, None] * N + j[None, :], acc)


@tritium.jit
def _described(x, y, out, tiles, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, STAGES: tl.constexpr):
    """A descriptor for each step, and in a branch one for what is stored."""
    acc = tl.zeros((M, N), tl.float32)
    for i in tl.range(0, n, num_stages=STAGES):
        a = tl.make_tensor_descriptor(x + i * M * K, [M, K], [K, 1], [M, K])
        b = tl.make_tensor_descriptor(y + i * K * N, [K, N], [N, 1], [K, N])
        acc = tl.dot(a.load([0, 0]), b.load([0, 0]), acc)
        if i % 2 == 1:
            c = tl.make_tensor_descriptor(tiles + i // 2 * M * N, [M, N], [N, 1], [M, N])
            c.store([0, 0], acc)
            acc = tl.zeros((M, N), tl.float32)
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + at, acc)


@tritium.jit
def _both_ways(own, x, out, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, STAGES: tl.constexpr):
    """What is contiguous along its first dimension is an operand of one product, and turned around of another."""
    m, j, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(own + m[:, None] * K + k[None, :])
    acc = tl.zeros((M, K), tl.float32)
    for i in tl.range(0, n, num_stages=STAGES):
        b = tl.load(x + (i * N + j)[None, :] * K + k[:, None])
        acc = tl.dot(tl.dot(a, b).to(tl.float16), b.T, acc)
    tl.store(out + m[:, None] * K + k[None, :], acc)


def _halves(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float16)


def _floats(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def _empty(*shape: int) -> np.ndarray:
    return np.full(shape, 7, np.float32)


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a.astype(np.float64) @ b.astype(np.float64)


def gathered(trips: int, stages: int) -> tuple[np.ndarray, Any]:
    table, w, out = _halves(50, K), _halves(max(trips, 1) * K, N, seed=1), _empty(M, N)
    rows = np.random.default_rng(2).integers(0, 50, max(trips, 1) * M).astype(np.int32)
    _gathered[(1,)](table, rows, w, out, trips, M, N, K, stages)
    parts = (_product(table[rows[i * M : (i + 1) * M]], w[i * K : (i + 1) * K]) for i in range(trips))
    return out, sum(parts, np.zeros((M, N)))


def branches(trips: int, stages: int, limit: int = 2) -> tuple[np.ndarray, Any]:
    width = max(trips, 1) * K
    a, b, out = _halves(M, width), _halves(width, N, seed=1), _empty(M + 1, N)
    _branches[(1,)](a, b, out, trips, limit, width, M, N, K, stages)
    expected = np.full((M + 1, N), 7.0)
    expected[:M] = sum(range(limit, trips))
    for i in range(trips):
        part = slice(i * K, (i + 1) * K)
        expected[:M] += _product(a[:, part], b[part] if i >= limit else np.ones((K, N)))
    if trips > 2:
        expected[M] = 5
    return out, expected


def nested(trips: int, stages: int) -> tuple[np.ndarray, Any]:
    width = max(trips, 1) * K
    a, b, out = _halves(3 * M, width), _halves(width, N, seed=1), _empty(3 * M, N)
    _nested[(1,)](a, b, out, 3, trips, width, M, N, K, stages)
    return out, _product(a[:, : trips * K], b[: trips * K])


def softmax(trips: int, stages: int) -> tuple[np.ndarray, Any]:
    x = _floats(2 * trips + 1, 100)
    out = _empty(*x.shape)
    _softmax[(2,)](x, out, 2 * trips + 1, 100, ROW, stages)
    e = np.exp(x - x.max(1, keepdims=True))
    return out, e / e.sum(1, keepdims=True)


def scaled(trips: int, stages: int) -> tuple[np.ndarray, Any]:
    x, scales, out = _floats(max(trips, 1), ROW), _floats(max(trips, 1), seed=1), _empty(ROW)
    _scaled[(1,)](x, scales, out, trips, ROW, stages)
    return out, (x[:trips] * scales[:trips, None]).sum(0) + (scales[trips - 1] if trips else 0)


def linked(trips: int, stages: int) -> tuple[np.ndarray, Any]:
    following = np.random.default_rng(3).integers(0, 20, 20).astype(np.int32)
    x, out = _floats(20, ROW), _empty(ROW)
    _linked[(1,)](following, x, out, 3, trips, ROW, stages)
    at, total, acc = 3, 0, np.zeros(ROW, np.float32)
    for _ in range(trips):
        acc = acc * np.float32(0.5) + x[at]
        at = following[at]
        total += at
    return out, acc + total


def narrow(trips: int, stages: int) -> tuple[np.ndarray, Any]:
    x, y, out = _halves(max(trips, 1), M, K, 2), _halves(max(trips, 1) * K, N, seed=1), _empty(M, N)
    _narrow[(1,)](x, y, out, trips, M, N, K, stages)
    expected = np.zeros((M, N))
    for i in range(trips):
        a, b = x[i, :, :, 0].copy(), y[i * K : (i + 1) * K].copy()
        a[:i] = 2
        b[i] = -1
        expected += _product(a, b)
    return out, expected


def described(trips: int, stages: int) -> tuple[np.ndarray, Any]:
    x, y, out = _halves(max(trips, 1), M, K), _halves(max(trips, 1), K, N, seed=1), _empty(trips // 2 + 1, M, N)
    _described[(1,)](x, y, out[trips // 2], out, trips, M, N, K, stages)
    products = [_product(x[i], y[i]) for i in range(trips)]
    sums = [sum(products[i : i + 2]) for i in range(0, trips - 1, 2)]
    return out, np.stack([*sums, products[-1] if trips % 2 else np.zeros((M, N))])


def both_ways(trips: int, stages: int) -> tuple[np.ndarray, Any]:
    """Of small integers: products that are rounded to halves between are exact."""
    random = np.random.default_rng(4)
    own, x = (random.integers(-2, 3, shape).astype(np.float16) for shape in ((M, 2 * K), (max(trips, 1) * N, 2 * K)))
    out = _empty(M, 2 * K)
    _both_ways[(1,)](own, x, out, trips, M, N, 2 * K, stages)
    return out, _product(_product(own, x[: trips * N].T), x[: trips * N])


CASES: dict[str, Callable[[int, int], tuple[np.ndarray, Any]]] = {
    "gathered": gathered,
    "branches": branches,
    "branches from the first": lambda trips, stages: branches(trips, stages, 0),
    "nested": nested,
    "softmax": softmax,
    "scaled": scaled,
    "linked": linked,
    "narrow": narrow,
    "described": described,
    "both ways": both_ways,
}


def check(case: str, trips: int) -> None:
    """Right with every depth, and the same."""
    first = None
    for stages in range(1, 6):
        got, expected = CASES[case](trips, stages)
        np.testing.assert_allclose(got, expected, rtol=2e-5, atol=2e-4, err_msg=f"{stages} stages")
        first = got if first is None else first
        np.testing.assert_array_equal(got, first, err_msg=f"{stages} stages")
