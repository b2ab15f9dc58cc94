"""A kernel for each hint of the language, which gives it the value of its last parameter."""

from __future__ import annotations

from typing import Any

import tritium
import tritium.language as tl


@tritium.jit
def cache_modifier(x, y, n, V: tl.constexpr):
    at = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(y + at, tl.load(x + at, mask=at < n, cache_modifier=V), mask=at < n)


@tritium.jit
def store_cache_modifier(x, y, n, V: tl.constexpr):
    at = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n, cache_modifier=V)


@tritium.jit
def eviction_policy(x, y, n, V: tl.constexpr):
    at = tl.program_id(0) * 128 + tl.arange(0, 128)
    tl.store(y + at, tl.load(x + at, mask=at < n, eviction_policy=V), mask=at < n)


@tritium.jit
def max_num_imprecise_acc(x, y, n, V: tl.constexpr):
    at = tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :]
    a = tl.load(x + at).to(tl.float8e5)
    tl.store(y + at, tl.dot(a, a, max_num_imprecise_acc=V))


@tritium.jit
def fast_math(x, y, n, V: tl.constexpr):
    at = tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :]
    a = tl.load(x + at).to(tl.float8e5)
    scales = tl.load(x + tl.arange(0, 64)[:, None] * 2 + tl.arange(0, 2)[None, :]).to(tl.uint8)
    tl.store(y + at, tl.dot_scaled(a, scales, "e5m2", a, None, "e5m2", fast_math=V))


@tritium.jit
def approx(x, y, n, V: tl.constexpr):
    at = tl.arange(0, 128)
    tl.store(y + at, tl.fdiv(tl.load(x + at), tl.load(y + at), approx=V))


@tritium.jit
def can_reorder(x, y, n, V: tl.constexpr):
    a = tl.load(x + tl.arange(0, 128))
    tl.store(y + tl.arange(0, 2)[:, None] * 64 + tl.arange(0, 64)[None, :], tl.reshape(a, 2, 64, can_reorder=V))


@tritium.jit
def num_stages(x, y, n, V: tl.constexpr):
    at = tl.arange(0, 32)
    acc = tl.zeros([32, 32], tl.float32)
    for k in tl.range(0, n, 32, num_stages=V):
        a = tl.load(x + at[:, None] * n + at[None, :] + k)
        b = tl.load(y + at[:, None] * n + at[None, :] + k)
        acc = tl.dot(a, b, acc)
    tl.store(y + at[:, None] * n + at[None, :], acc)


@tritium.jit
def loop_unroll_factor(x, y, n, V: tl.constexpr):
    total = 0.0
    for k in tl.range(0, n, loop_unroll_factor=V):
        total = tl.sin(total + tl.load(x + k))
    tl.store(y, total)


@tritium.jit
def disallow_acc_multi_buffer(x, y, n, V: tl.constexpr):
    at = tl.arange(0, 64)
    acc = tl.zeros([64, 64], tl.float32)
    for k in tl.range(0, n, 64, disallow_acc_multi_buffer=V):
        a = tl.load(x + at[:, None] * n + at[None, :] + k).to(tl.float16)
        acc = tl.dot(a, a, acc)
    tl.store(y + at[:, None] * n + at[None, :], acc)


@tritium.jit
def flatten(x, y, n, V: tl.constexpr):
    at = tl.arange(0, 32)
    for tile in tl.range(tl.program_id(0), n, tl.num_programs(0), flatten=V):
        acc = tl.zeros([32, 32], tl.float32)
        for k in range(0, n, 32):
            a = tl.load(x + tile + at[:, None] * n + at[None, :] + k)
            b = tl.load(y + tile + at[:, None] * n + at[None, :] + k)
            acc = tl.dot(a, b, acc)
        tl.store(y + tile + at[:, None] * n + at[None, :], acc)


@tritium.jit
def warp_specialize(x, y, n, V: tl.constexpr):
    a_tiles = tl.make_tensor_descriptor(x.to(tl.pointer_type(tl.float16)), [n, n], [n, 1], [128, 64])
    b_tiles = tl.make_tensor_descriptor(y.to(tl.pointer_type(tl.float16)), [n, n], [n, 1], [64, 128])
    acc = tl.zeros([128, 128], tl.float32)
    for k in tl.range(0, n, 64, warp_specialize=V):
        acc = tl.dot(a_tiles.load([0, k]), b_tiles.load([k, 0]), acc)
    at = tl.arange(0, 128)
    tl.store(y + at[:, None] * n + at[None, :], acc)


@tritium.jit
def disable_licm(x, y, n, V: tl.constexpr):
    at = tl.arange(0, 128)
    scale = tl.load(x + at)
    total = tl.zeros([128], tl.float32)
    for k in tl.range(0, n, disable_licm=V):
        total += tl.load(x + k * 128 + at) * tl.sin(scale)
    tl.store(y + at, total)


@tritium.jit
def multiple_of(x, y, n, V: tl.constexpr):
    at = tl.multiple_of(tl.load(y).to(tl.int32), V) + tl.arange(0, 512)
    tl.store(y + at, tl.load(x + at))


@tritium.jit
def max_contiguous(x, y, n, V: tl.constexpr):
    at = tl.max_contiguous(tl.multiple_of(tl.load(y + tl.arange(0, 512)).to(tl.int32), 16), V)
    tl.store(y + at, tl.load(x + at))


@tritium.jit
def max_constancy(x, y, n, V: tl.constexpr):
    at = tl.arange(0, 512)
    keep = tl.max_constancy(tl.load(y + at) > 0, V)
    tl.store(y + at, tl.load(x + at, mask=keep, other=0.0), mask=keep)


@tritium.jit
def assume(x, y, n, V: tl.constexpr):
    if V:
        tl.assume(n > 0)
    tl.store(y + n // 16, tl.load(x))


KERNELS: dict[str, tuple[Any, Any, Any]] = {
    "cache_modifier": (cache_modifier, "", ".cg"),
    "store cache_modifier": (store_cache_modifier, "", ".cs"),
    "eviction_policy": (eviction_policy, "", "evict_last"),
    "max_num_imprecise_acc": (max_num_imprecise_acc, 0, 32),
    "fast_math": (fast_math, False, True),
    "approx": (approx, False, True),
    "can_reorder": (can_reorder, False, True),
    "num_stages": (num_stages, 1, 3),
    "loop_unroll_factor": (loop_unroll_factor, 1, 4),
    "disallow_acc_multi_buffer": (disallow_acc_multi_buffer, False, True),
    "flatten": (flatten, False, True),
    "warp_specialize": (warp_specialize, False, True),
    "disable_licm": (disable_licm, False, True),
    "multiple_of": (multiple_of, 1, 16),
    "max_contiguous": (max_contiguous, 1, 16),
    "max_constancy": (max_constancy, 1, 16),
    "assume": (assume, False, True),
}
"""The kernel of each hint, with a value that asks for nothing and one that asks for something."""
