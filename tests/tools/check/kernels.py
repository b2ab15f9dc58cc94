"""Kernels that the check is tried on."""

from __future__ import annotations

import tritium
import tritium.language as tl
from tritium.language.extra import libdevice


@tritium.jit
def distance(x, y, o, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    mask = at < n
    a = tl.load(x + at, mask=mask)
    b = tl.load(y + at, mask=mask)
    c = tl.exp(a - b) + a * 2.0
    tl.store(o + at, c, mask=mask)


@tritium.jit
def row_max(x, o, n, B: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, B)
    values = tl.load(x + row * n + at, mask=at < n, other=-float("inf"))
    tl.store(o + row, tl.max(values))


@tritium.jit
def product(a, b, c, K, N: tl.constexpr, BK: tl.constexpr):
    i, j, k = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :], tl.arange(0, BK)
    total = tl.zeros((N, N), tl.float32)
    for first in range(0, K, BK):
        x = tl.load(a + i * K + first + k[None, :])
        y = tl.load(b + (first + k[:, None]) * N + j)
        total = tl.dot(x, y, total)
    tl.store(c + i * N + j, total)


@tritium.jit
def by_descriptors(a, b, c, K, N: tl.constexpr, BK: tl.constexpr, SPECIALIZE: tl.constexpr):
    total = tl.zeros((N, N), tl.float32)
    for first in tl.range(0, K, BK, warp_specialize=SPECIALIZE):
        total = tl.dot(a.load([0, first]), b.load([0, first]).T, total)
    c.store([0, 0], total.to(tl.float16))


@tritium.jit
def counted(x, n):
    at = tl.arange(0, 16)
    old = tl.load(x + at, mask=at < n, other=0)
    tl.store(x + at, old + 1, mask=at < n)


@tritium.jit
def summed(x, o):
    at = tl.arange(0, 64)
    tl.atomic_add(o, tl.sum(tl.load(x + at)))


@tritium.jit
def through_a_table(table):
    x = tl.load(table).to(tl.pointer_type(tl.float32))
    tl.store(x, tl.load(x) + 1)


@tritium.jit
def of_the_library(x, o, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + at)
    w = libdevice.hypot(v, 2.0 * v) + libdevice.erfinv(v * 0.5) + libdevice.pow(v, 1.5) + libdevice.tgamma(v + 1)
    tl.store(o + at, libdevice.fmod(w, 0.75) + libdevice.round(v * 10))


@tritium.jit
def masked_sums(x, out, columns, B: tl.constexpr):
    """The sum of each row, by loads without `other`: lanes that are masked off are 0 on every target."""
    at = tl.arange(0, B)
    values = tl.load(x + tl.program_id(0) * columns + at, mask=at < columns)
    tl.store(out + tl.program_id(0), tl.sum(values))
