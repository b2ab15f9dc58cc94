"""Kernels that tests compile for AMD GPUs and execute on the emulator of AMDGCN."""

from __future__ import annotations

import tritium
import tritium.language as tl
from tritium.language.extra import libdevice


@tritium.jit
def add(x, y, o, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


@tritium.jit
def softmax(x, o, n, B: tl.constexpr):
    at, row = tl.arange(0, B), tl.program_id(0)
    v = tl.load(x + row * n + at, mask=at < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(o + row * n + at, e / tl.sum(e, 0), mask=at < n)


@tritium.jit
def scans(x, o, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(o + at, tl.cumsum(tl.load(x + at), 0))
    tl.store(o + B + at, tl.cumsum(tl.load(x + at), 0, reverse=True))


@tritium.jit
def transpose(x, o, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    v = tl.load(x + m[:, None] * N + n[None, :])
    tl.store(o + n[:, None] * M + m[None, :], tl.trans(v))


@tritium.jit
def argmax(x, o, M: tl.constexpr, N: tl.constexpr):
    v = tl.load(x + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    tl.store(o + tl.arange(0, M), tl.argmax(v, 1))


@tritium.jit
def histogram(x, o, B: tl.constexpr):
    tl.store(o + tl.arange(0, 64), tl.histogram(tl.load(x + tl.arange(0, B)), 64))


@tritium.jit
def sort(x, o, B: tl.constexpr):
    tl.store(o + tl.arange(0, B), tl.sort(tl.load(x + tl.arange(0, B))))


@tritium.jit
def gather(x, i, o, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(o + at, tl.gather(tl.load(x + at), tl.load(i + at), 0))


@tritium.jit
def atomics(x, o, count, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.atomic_add(o + at, tl.load(x + tl.program_id(0) * B + at))
    tl.atomic_max(o + B + at, tl.load(x + tl.program_id(0) * B + at).to(tl.int32).to(tl.float32), mask=at < 40)
    tl.atomic_cas(count + 1, 0, 7)
    tl.atomic_add(count, 1)


@tritium.jit
def additions(x, o, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.atomic_add(o + at, tl.load(x + tl.program_id(0) * B + at))


@tritium.jit
def asserting(x, o, B: tl.constexpr):
    v = tl.load(x + tl.arange(0, B))
    tl.device_assert(v > 0, "positive")
    tl.store(o + tl.arange(0, B), v)


@tritium.jit
def functions(x, o, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + at)
    a = tl.abs(v)
    tl.store(o + at, tl.exp(v))
    tl.store(o + B + at, tl.log(a))
    tl.store(o + 2 * B + at, tl.sin(v))
    tl.store(o + 3 * B + at, tl.sqrt(a))
    tl.store(o + 4 * B + at, v / 3.7 / v)
    tl.store(o + 5 * B + at, v.to(tl.int32).to(tl.float32))
    tl.store(o + 6 * B + at, v.to(tl.bfloat16).to(tl.float32))


@tritium.jit
def library(x, o, B: tl.constexpr):
    at = tl.arange(0, B)
    v = tl.load(x + at)
    tl.store(o + at, libdevice.fabs(v))
    tl.store(o + B + at, libdevice.rint(v))
    tl.store(o + 2 * B + at, libdevice.isnan(v).to(tl.float32) + 2 * libdevice.isinf(v).to(tl.float32))
    tl.store(o + 3 * B + at, libdevice.finitef(v).to(tl.float32))
    tl.store(o + 4 * B + at, libdevice.signbit(v).to(tl.float32))
    tl.store(o + 5 * B + at, libdevice.popc(at).to(tl.float32))
    tl.store(o + 6 * B + at, libdevice.clz(at).to(tl.float32))
    tl.store(o + 7 * B + at, libdevice.llrint(tl.where(libdevice.finitef(v), v, 0.0)).to(tl.float32))
    tl.store(o + 8 * B + at, libdevice.ldexp(v, 3))
    tl.store(o + 9 * B + at, tl.where(v < 0.0, v, 0.0))


@tritium.jit
def places(o):
    at = (tl.program_id(2) * tl.num_programs(1) + tl.program_id(1)) * tl.num_programs(0) + tl.program_id(0)
    tl.store(o + at, tl.num_programs(0) * 100 + tl.num_programs(1) * 10 + tl.num_programs(2))


@tritium.jit
def matmul(a, b, c, k, M: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    m, n, at = tl.arange(0, M), tl.arange(0, N), tl.arange(0, B)
    acc = tl.zeros((M, N), tl.float32)
    for i in range(0, k, B):
        left = tl.load(a + m[:, None] * k + i + at[None, :])
        acc = tl.dot(left, tl.load(b + (i + at)[:, None] * N + n[None, :]), acc)
    tl.store(c + m[:, None] * N + n[None, :], acc)


@tritium.jit
def divide(x, y, out, n, B: tl.constexpr):
    """out = x / y"""
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + at, tl.load(x + at, at < n) / tl.load(y + at, at < n), at < n)
