"""Integer operations on emulated GPUs, for all widths, against Python's integers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tritium
import tritium.language as tl
from tests.conversion.ttg_to_llvm.elementwise import STORAGE, Step, run
from tests.conversion.ttg_to_llvm.harness import on_gpu

SIZE = 256


def signed(n: int, width: int) -> int:
    return n - (1 << width) if n >> (width - 1) else n


def quotient(a: int, b: int) -> int:
    """Towards zero; by zero it is `a`, as on CPUs."""
    if b == 0:
        return a
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def rest(a: int, b: int) -> int:
    return 0 if b == 0 else a - quotient(a, b) * b


def ceiling(a: int, b: int) -> int:
    return a if b == 0 else -(-a // b)


def floor(a: int, b: int) -> int:
    return a if b == 0 else a // b


# name -> what it is of two unsigned numbers a and b of `w` bits; sa and sb are the same bits with a sign
OPERATIONS: dict[str, Callable[[int, int, int, int, int], int]] = {
    "arith.addi": lambda a, b, sa, sb, w: a + b,
    "arith.subi": lambda a, b, sa, sb, w: a - b,
    "arith.muli": lambda a, b, sa, sb, w: a * b,
    "arith.divsi": lambda a, b, sa, sb, w: quotient(sa, sb),
    "arith.divui": lambda a, b, sa, sb, w: quotient(a, b),
    "arith.remsi": lambda a, b, sa, sb, w: rest(sa, sb),
    "arith.remui": lambda a, b, sa, sb, w: rest(a, b),
    "arith.ceildivsi": lambda a, b, sa, sb, w: ceiling(sa, sb),
    "arith.ceildivui": lambda a, b, sa, sb, w: ceiling(a, b),
    "arith.floordivsi": lambda a, b, sa, sb, w: floor(sa, sb),
    "arith.andi": lambda a, b, sa, sb, w: a & b,
    "arith.ori": lambda a, b, sa, sb, w: a | b,
    "arith.xori": lambda a, b, sa, sb, w: a ^ b,
    "arith.shli": lambda a, b, sa, sb, w: a << b if b < w else 0,
    "arith.shrui": lambda a, b, sa, sb, w: a >> b if b < w else 0,
    "arith.shrsi": lambda a, b, sa, sb, w: sa >> min(b, w - 1),
    "arith.maxsi": lambda a, b, sa, sb, w: max(sa, sb),
    "arith.minsi": lambda a, b, sa, sb, w: min(sa, sb),
    "arith.maxui": lambda a, b, sa, sb, w: max(a, b),
    "arith.minui": lambda a, b, sa, sb, w: min(a, b),
}
COMPARISONS: dict[str, Callable[[int, int, int, int], bool]] = {
    "eq": lambda a, b, sa, sb: a == b,
    "ne": lambda a, b, sa, sb: a != b,
    "slt": lambda a, b, sa, sb: sa < sb,
    "sle": lambda a, b, sa, sb: sa <= sb,
    "sgt": lambda a, b, sa, sb: sa > sb,
    "sge": lambda a, b, sa, sb: sa >= sb,
    "ult": lambda a, b, sa, sb: a < b,
    "ule": lambda a, b, sa, sb: a <= b,
    "ugt": lambda a, b, sa, sb: a > b,
    "uge": lambda a, b, sa, sb: a >= b,
}
UNARY: dict[str, Callable[[int, int, int], int]] = {
    "math.absi": lambda a, sa, w: abs(sa),
    "math.ctpop": lambda a, sa, w: a.bit_count(),
    "math.ctlz": lambda a, sa, w: w - a.bit_length(),
    "math.cttz": lambda a, sa, w: (a & -a).bit_length() - 1 if a else w,
}


def numbers(width: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two operands: numbers of all sizes, and every pair of the extremes; small second operands are frequent."""
    random = np.random.default_rng(seed)
    edge = [0, 1, 2, 3, width - 1, width, (1 << width) - 1, 1 << (width - 1), (1 << (width - 1)) - 1, 40 % (1 << width)]
    pairs = [(a, b) for a in edge for b in edge]
    while len(pairs) < SIZE:
        a, b = (int(random.integers(0, 1 << 62)) * 5 >> int(random.integers(0, 62)) for _ in range(2))
        pairs.append((a % (1 << width), b % (1 << width)))
    a, b = zip(*pairs)
    return np.array(a, STORAGE[f"i{width}"]), np.array(b, STORAGE[f"i{width}"])


def check(found: np.ndarray, wanted: list[int], width: int, what: str, a: np.ndarray, b: np.ndarray) -> None:
    masked = np.array([n & ((1 << width) - 1) for n in wanted], found.dtype)
    (bad,) = np.nonzero(found != masked)
    assert not len(bad), f"{what} of {a[bad[0]]:#x}, {b[bad[0]]:#x}: {found[bad[0]]:#x}, it is {masked[bad[0]]:#x}"


@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_operations(width: int, seed: int) -> None:
    a, b = numbers(width, seed)
    ty = f"i{width}"
    steps = [Step(f"%y = {name} %x0, %x1 : T({ty})", ty) for name in OPERATIONS]
    steps += [
        Step(f"%t = arith.cmpi {p}, %x0, %x1 : T({ty})\n%y = arith.select %t, %x0, %x1 : T(i1), T({ty})", ty)
        for p in COMPARISONS
    ]
    steps += [Step(f"%y = {name} %x0 : T({ty})", ty) for name in UNARY]
    outputs, gpu = run(steps, [(ty, a), (ty, b)], per_thread=2)
    rows = [(int(x), int(y), signed(int(x), width), signed(int(y), width)) for x, y in zip(a, b)]
    results = iter(outputs)
    for name, value in OPERATIONS.items():
        check(next(results), [value(*row, width) for row in rows], width, name, a, b)
    for name, holds in COMPARISONS.items():
        check(next(results), [row[0] if holds(*row) else row[1] for row in rows], width, name, a, b)
    for name, of_one in UNARY.items():
        check(next(results), [of_one(row[0], row[2], width) for row in rows], width, name, a, b)
    assert ".local" not in gpu.ptx


@pytest.mark.parametrize("width", [32, 64])
def test_more_bits_than_a_register(width: int, seed: int) -> None:
    a, b = numbers(width, seed)
    ty, mask = f"i{width}", (1 << width) - 1
    steps = [
        Step(f"%y = tt.mulhiui %x0, %x1 : T({ty})", ty),
        Step(f"%t, %y = arith.mulsi_extended %x0, %x1 : T({ty})", ty),
        Step(f"%y, %t = arith.mului_extended %x0, %x1 : T({ty})", ty),
        Step(f"%t, %ty = arith.addui_extended %x0, %x1 : T({ty}), T(i1)\n%y = arith.extui %ty : T(i1) to T({ty})", ty),
    ]
    outputs, _ = run(steps, [(ty, a), (ty, b)])
    rows = [(int(x), int(y), signed(int(x), width), signed(int(y), width)) for x, y in zip(a, b)]
    wanted = [
        [x * y >> width for x, y, *_ in rows],
        [x * y >> width for *_, x, y in rows],
        [x * y & mask for x, y, *_ in rows],
        [x + y >> width for x, y, *_ in rows],
    ]
    for step, found, want in zip(steps, outputs, wanted):
        check(found, want, width, step.text, a, b)


@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_widths(width: int, seed: int) -> None:
    a, b = numbers(width, seed)
    ty, steps, wanted = f"i{width}", [], []
    for other in (8, 16, 32, 64):
        if other == width:
            continue
        names = ("arith.extsi", "arith.extui") if other > width else ("arith.trunci",)
        for name in names:
            steps.append(Step(f"%y = {name} %x0 : T({ty}) to T(i{other})", f"i{other}"))
            wanted.append([signed(int(n), width) if name == "arith.extsi" else int(n) for n in a])
    outputs, _ = run(steps, [(ty, a), (ty, b)])
    for step, found, want in zip(steps, outputs, wanted):
        check(found, want, int(step.result[1:]), step.text, a, b)


@pytest.mark.parametrize("divisor", [1, -1, 2, -2, 3, 7, 8, 10, -16, 641, 1 << 30, -(1 << 31)])
def test_constant_divisors_make_no_division(divisor: int, seed: int) -> None:
    a, b = numbers(32, seed)
    constant = f"%t = arith.constant dense<{divisor}> : T(i32)\n"
    names = ("arith.divsi", "arith.remsi", "arith.divui", "arith.remui")
    outputs, gpu = run([Step(f"{constant}%y = {n} %x0, %t : T(i32)", "i32") for n in names], [("i32", a), ("i32", b)])
    unsigned = divisor & 0xFFFFFFFF
    for name, found in zip(names, outputs):
        value = OPERATIONS[name]
        want = [value(int(n), unsigned, signed(int(n), 32), divisor, 32) for n in a]
        check(found, want, 32, f"{name} by {divisor}", a, b)
    assert gpu.count("(div|rem)") == 0


def test_a_shift_by_a_register_is_one_instruction(seed: int) -> None:
    a, b = numbers(32, seed)
    steps = [Step(f"%y = arith.{name} %x0, %x1 : T(i32)", "i32") for name in ("shli", "shrui")]
    _, gpu = run(steps, [("i32", a), ("i32", b)], num_warps=8)
    assert gpu.count("shl.b32|shr.u32") <= 4 and gpu.count("selp") == 0


@tritium.jit
def both_halves(x_ptr, y_ptr, o_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    tl.store(o_ptr + i, tl.umulhi(x, y))
    tl.store(o_ptr + BLOCK + i, y * x)
    tl.store(o_ptr + 2 * BLOCK + i, tl.umulhi(0xD2511F53, x))
    tl.store(o_ptr + 3 * BLOCK + i, x * 0xD2511F53)
    tl.store(o_ptr + 4 * BLOCK + i, tl.umulhi(y, y))


def test_both_halves_of_a_product_are_one_multiplication(seed: int) -> None:
    x, y = np.random.default_rng(seed).integers(0, 1 << 32, (2, 256), dtype=np.uint32)
    x[:4], y[:4] = [0, 1, 0xFFFFFFFF, 0x80000000], [7, 0xFFFFFFFF, 0xFFFFFFFF, 2]
    o = np.zeros((5, 256), np.uint32)
    gpu = on_gpu(both_halves, x, y, o, BLOCK=256)
    gpu.launch(1, x, y, o)
    a, b = x.astype(np.uint64), y.astype(np.uint64)
    for row, (product, half) in zip(
        o, [(a * b, 32), (a * b, 0), (a * 0xD2511F53, 32), (a * 0xD2511F53, 0), (b * b, 32)]
    ):
        np.testing.assert_array_equal(row, (product >> np.uint64(half)).astype(np.uint32))
    assert gpu.ptx.count("mul.wide.u32 whole") == 4 and gpu.count(r"mul\.hi\.u32") == 2  # of two elements a thread
