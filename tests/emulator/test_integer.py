"""Integer instructions against plain Python integers."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.emulator.kernels import elementwise
from tests.emulator.reference import integers, signed

THREADS = 256


def inputs(bits, rng, count=3):
    return [
        np.array(integers(b, THREADS, rng), f"u{b // 8}") for b in (bits if isinstance(bits, list) else [bits] * count)
    ]


def check(instructions, references, arrays, **options):
    """Each instruction's results are those of its reference, a function of integers."""
    results = elementwise(instructions, arrays, **options)
    for name, (_, widths, out) in instructions.items():
        for n, values in enumerate(zip(*(a.tolist() for a in arrays[: len(widths)]))):
            wanted = references[name](*values) & ((1 << out) - 1)
            got = int(results[name][n])
            assert got == wanted, f"{name}{tuple(map(hex, values))}: {got:#x}, not {wanted:#x}"


def quotient(a, b):
    q = abs(a) // abs(b)
    return -q if (a < 0) != (b < 0) else q


def clamp(v, low, high):
    return max(low, min(high, v))


@pytest.mark.parametrize("kind", "us")
@pytest.mark.parametrize("bits", [16, 32, 64])
def test_arithmetic(kind, bits, seed):
    rng = random.Random(seed)
    t = f"{kind}{bits}"
    see = (lambda v: signed(v, bits)) if kind == "s" else (lambda v: v)

    def both(f):
        return lambda a, b, *c: f(see(a), see(b))

    def div(a, b):
        return quotient(a, b) if b else -1

    def rem(a, b):
        return a - b * quotient(a, b) if b else -1

    two = {
        "add": both(lambda a, b: a + b),
        "sub": both(lambda a, b: a - b),
        "mul.lo": both(lambda a, b: a * b),
        "mul.hi": both(lambda a, b: a * b >> bits),
        "min": both(min),
        "max": both(max),
        "div": both(div),
        "rem": both(rem),
    }
    instructions = {name: (f"{name}.{t} {{d}}, {{a}}, {{b}}", [bits] * 2, bits) for name in two}
    references = dict(two)
    three = [bits] * 3
    instructions["mad.lo"] = (f"mad.lo.{t} {{d}}, {{a}}, {{b}}, {{c}}", three, bits)
    references["mad.lo"] = lambda a, b, c: a * b + c
    instructions["mad.hi"] = (f"mad.hi.{t} {{d}}, {{a}}, {{b}}, {{c}}", three, bits)
    references["mad.hi"] = lambda a, b, c: (see(a) * see(b) >> bits) + see(c)
    instructions["sad"] = (f"sad.{t} {{d}}, {{a}}, {{b}}, {{c}}", three, bits)
    references["sad"] = lambda a, b, c: c + abs(see(a) - see(b))
    if bits < 64:
        instructions["mul.wide"] = (f"mul.wide.{t} {{d}}, {{a}}, {{b}}", [bits] * 2, bits * 2)
        references["mul.wide"] = both(lambda a, b: a * b)
    if kind == "s":
        instructions["neg"] = (f"neg.{t} {{d}}, {{a}}", [bits], bits)
        references["neg"] = lambda a: -a
        instructions["abs"] = (f"abs.{t} {{d}}, {{a}}", [bits], bits)
        references["abs"] = lambda a: abs(signed(a, bits))
    if t == "s32":
        low, high = -(1 << 31), (1 << 31) - 1
        for name, f in (("add.sat", lambda a, b: a + b), ("sub.sat", lambda a, b: a - b)):
            instructions[name] = (f"{name}.s32 {{d}}, {{a}}, {{b}}", [32] * 2, 32)
            references[name] = both(lambda a, b, f=f: clamp(f(a, b), low, high))
        instructions["mad.hi.sat"] = ("mad.hi.sat.s32 {d}, {a}, {b}, {c}", three, 32)
        references["mad.hi.sat"] = lambda a, b, c: clamp((see(a) * see(b) >> 32) + see(c), low, high)
        instructions["max.relu"] = ("max.relu.s32 {d}, {a}, {b}", [32] * 2, 32)
        references["max.relu"] = both(lambda a, b: max(a, b, 0))
    check(instructions, references, inputs(bits, rng))


def test_wide_additions_and_24_bits(seed):
    rng = random.Random(seed)

    def low24(v, kind):
        return signed(v & 0xFFFFFF, 24) if kind == "s" else v & 0xFFFFFF

    instructions, references = {}, {}
    for kind in "us":
        for part, shift in (("lo", 0), ("hi", 16)):
            name = f"mul24.{part}.{kind}32"
            instructions[name] = (f"{name} {{d}}, {{a}}, {{b}}", [32] * 2, 32)
            references[name] = lambda a, b, k=kind, s=shift: low24(a, k) * low24(b, k) >> s
            name = f"mad24.{part}.{kind}32"
            instructions[name] = (f"{name} {{d}}, {{a}}, {{b}}, {{c}}", [32] * 3, 32)
            references[name] = lambda a, b, c, k=kind, s=shift: (low24(a, k) * low24(b, k) >> s) + c
    check(instructions, references, inputs(32, rng))
    wide = {f"mad.wide.{k}32": (f"mad.wide.{k}32 {{d}}, {{a}}, {{b}}, {{c}}", [32, 32, 64], 64) for k in "us"}
    check(
        wide,
        {
            "mad.wide.u32": lambda a, b, c: a * b + c,
            "mad.wide.s32": lambda a, b, c: signed(a, 32) * signed(b, 32) + c,
        },
        inputs([32, 32, 64], rng),
    )


def test_carries(seed):
    rng = random.Random(seed)
    text = "add.cc.u32 {d}, {a}, {b};\naddc.u32 {d}, {a}, {c}"
    back = "sub.cc.u32 {d}, {a}, {b};\nsubc.u32 {d}, {a}, {c}"
    chain = "add.cc.u32 {d}, {a}, {b};\naddc.cc.u32 {d}, {b}, {c};\naddc.u32 {d}, 0, 0"
    full = 1 << 32
    check(
        {"add": (text, [32] * 3, 32), "sub": (back, [32] * 3, 32), "chain": (chain, [32] * 3, 32)},
        {
            "add": lambda a, b, c: a + c + (a + b >= full),
            "sub": lambda a, b, c: a - c - (a < b),
            "chain": lambda a, b, c: b + c + (a + b >= full) >= full,
        },
        inputs(32, rng),
    )
    product = "mad.lo.cc.u32 {d}, {a}, {b}, {c};\nmadc.hi.u32 {d}, {a}, {b}, {c}"
    twice = "mad.hi.cc.s32 {d}, {a}, {b}, {c};\nmadc.lo.cc.s32 {d}, {b}, {c}, {a};\naddc.u32 {d}, 0, 0"

    def carried(a, b, c):
        first = ((signed(a, 32) * signed(b, 32) >> 32) % full) + c >= full
        return b * c % full + a + first >= full

    check(
        {"product": (product, [32] * 3, 32), "twice": (twice, [32] * 3, 32)},
        {"product": lambda a, b, c: (a * b >> 32) + c + (a * b % full + c >= full), "twice": carried},
        inputs(32, rng),
    )


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_bits(bits, seed):
    rng = random.Random(seed)
    mask = (1 << bits) - 1

    def shr(kind):
        return lambda a, n: (signed(a, bits) if kind == "s" else a) >> min(n & 0xFFFFFFFF, bits)

    instructions = {
        "and": (f"and.b{bits} {{d}}, {{a}}, {{a}}", [bits], bits),
        "not": (f"not.b{bits} {{d}}, {{a}}", [bits], bits),
        "cnot": (f"cnot.b{bits} {{d}}, {{a}}", [bits], bits),
        "shl": (f"shl.b{bits} {{d}}, {{a}}, {{b}}", [bits, 32], bits),
        "shr.u": (f"shr.u{bits} {{d}}, {{a}}, {{b}}", [bits, 32], bits),
        "shr.s": (f"shr.s{bits} {{d}}, {{a}}, {{b}}", [bits, 32], bits),
        "shr.s 5": (f"shr.s{bits} {{d}}, {{a}}, 5", [bits], bits),
        "shr.s 99": (f"shr.s{bits} {{d}}, {{a}}, 99", [bits], bits),
        "shl 99": (f"shl.b{bits} {{d}}, {{a}}, 99", [bits], bits),
    }
    references = {
        "and": lambda a: a,
        "not": lambda a: ~a,
        "cnot": lambda a: a == 0,
        "shl": lambda a, n: a << n & mask if n < bits else 0,
        "shr.u": shr("u"),
        "shr.s": shr("s"),
        "shr.s 5": lambda a: signed(a, bits) >> 5,
        "shr.s 99": lambda a: signed(a, bits) >> 99,
        "shl 99": lambda a: 0,
    }
    if bits > 16:
        for name, f in {
            "popc": lambda a: bin(a).count("1"),
            "clz": lambda a: bits - a.bit_length(),
        }.items():
            instructions[name], references[name] = (f"{name}.b{bits} {{d}}, {{a}}", [bits], 32), f
        instructions["brev"] = (f"brev.b{bits} {{d}}, {{a}}", [bits], bits)
        references["brev"] = lambda a: int(f"{a:0{bits}b}"[::-1], 2)
        for kind in "us":

            def top(a, kind=kind):
                return ((~a & mask) if kind == "s" and a >> (bits - 1) else a).bit_length()

            instructions[f"bfind.{kind}"] = (f"bfind.{kind}{bits} {{d}}, {{a}}", [bits], 32)
            references[f"bfind.{kind}"] = lambda a, top=top: top(a) - 1
            instructions[f"bfind.shiftamt.{kind}"] = (f"bfind.shiftamt.{kind}{bits} {{d}}, {{a}}", [bits], 32)
            references[f"bfind.shiftamt.{kind}"] = lambda a, top=top: bits - top(a) if top(a) else -1
    amounts = np.array(
        [rng.choice([0, 1, 5, bits - 1, bits, bits + 1, 255, 1 << 31, rng.randrange(bits)]) for _ in range(THREADS)],
        np.uint32,
    )
    check(instructions, references, [inputs(bits, rng, 1)[0], amounts])


@pytest.mark.parametrize("bits", [32, 64])
def test_fields(bits, seed):
    """The pseudocode of the PTX ISA, word by word."""
    rng = random.Random(seed)
    msb = bits - 1

    def bfe(kind):
        def f(a, b, c):
            pos, length = b & 0xFF, c & 0xFF
            sign = 0 if kind == "u" or length == 0 else a >> min(pos + length - 1, msb) & 1
            d = 0
            for i in range(bits):
                d |= (a >> (pos + i) & 1 if i < length and pos + i <= msb else sign) << i
            return d

        return f

    instructions = {f"bfe.{k}": (f"bfe.{k}{bits} {{d}}, {{a}}, {{b}}, {{c}}", [bits, 32, 32], bits) for k in "us"}
    references = {f"bfe.{k}": bfe(k) for k in "us"}
    small = [
        np.array([rng.choice([0, 1, 8, 31, 32, 33, 63, 64, 255, rng.randrange(64)]) for _ in range(THREADS)], np.uint32)
        for _ in range(2)
    ]
    check(instructions, references, [inputs(bits, rng, 1)[0], *small])
    pos, length = 5, 9

    def bfi(a, b):
        field = ((1 << length) - 1) << pos
        return (a << pos & field) | (b & ~field)

    check(
        {
            "bfi": (f"bfi.b{bits} {{d}}, {{a}}, {{b}}, {pos}, {length}", [bits] * 2, bits),
            "bfi all": (f"bfi.b{bits} {{d}}, {{a}}, {{b}}, 3, {bits - 3}", [bits] * 2, bits),
            "bfi none": (f"bfi.b{bits} {{d}}, {{a}}, {{b}}, 100, 5", [bits] * 2, bits),
        },
        {"bfi": bfi, "bfi all": lambda a, b: a << 3 | b & 7, "bfi none": lambda a, b: b},
        inputs(bits, rng, 2),
    )


def test_words_of_bytes(seed):
    rng = random.Random(seed)
    table = 0xCA

    def lop3(a, b, c):
        return sum(1 << i for i in range(32) if table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | c >> i & 1) & 1)

    def octets(a, b):
        return [(a | b << 32) >> 8 * n & 255 for n in range(8)]

    def prmt(a, b, c):
        out = 0
        for n in range(4):
            choice = c >> 4 * n & 15
            byte = octets(a, b)[choice & 7]
            out |= (255 * (byte >> 7) if choice & 8 else byte) << 8 * n
        return out

    def chosen(order):
        return lambda a, b, c: sum(octets(a, b)[k] << 8 * n for n, k in enumerate(order[c & 3]))

    modes = {
        "f4e": [(0, 1, 2, 3), (1, 2, 3, 4), (2, 3, 4, 5), (3, 4, 5, 6)],
        "b4e": [(0, 7, 6, 5), (1, 0, 7, 6), (2, 1, 0, 7), (3, 2, 1, 0)],
        "rc8": [(n,) * 4 for n in range(4)],
        "ecl": [(0, 1, 2, 3), (1, 1, 2, 3), (2, 2, 2, 3), (3, 3, 3, 3)],
        "ecr": [(0, 0, 0, 0), (0, 1, 1, 1), (0, 1, 2, 2), (0, 1, 2, 3)],
        "rc16": [(0, 1, 0, 1), (2, 3, 2, 3), (0, 1, 0, 1), (2, 3, 2, 3)],
    }

    def funnel(left, wrap):
        def f(a, b, c):
            n = c & 31 if wrap else min(c, 32)
            both = b << 32 | a
            return (both << n) >> 32 if left else both >> n

        return f

    def bmsk(wrap):
        def f(a, b):
            x, n = (a & 31, b & 31) if wrap else (min(a, 32), min(b, 32))
            return ((1 << n) - 1) << x

        return f

    def szext(kind):
        def f(a, b):
            n = min(b, 32)
            low = a & ((1 << n) - 1)
            return low - (1 << n) if kind == "s" and n and low >> (n - 1) & 1 else low

        return f

    def dp4a(x, y):
        def f(a, b, c):
            total = c
            for n in range(4):
                p, q = a >> 8 * n & 255, b >> 8 * n & 255
                total += (signed(p, 8) if x == "s" else p) * (signed(q, 8) if y == "s" else q)
            return total

        return f

    instructions = {"lop3": (f"lop3.b32 {{d}}, {{a}}, {{b}}, {{c}}, {table}", [32] * 3, 32)}
    references = {"lop3": lop3}
    instructions["prmt"], references["prmt"] = ("prmt.b32 {d}, {a}, {b}, {c}", [32] * 3, 32), prmt
    for mode, order in modes.items():
        instructions[f"prmt.{mode}"] = (f"prmt.b32.{mode} {{d}}, {{a}}, {{b}}, {{c}}", [32] * 3, 32)
        references[f"prmt.{mode}"] = chosen(order)
    for side in "lr":
        for how in ("clamp", "wrap"):
            instructions[f"shf.{side}.{how}"] = (f"shf.{side}.{how}.b32 {{d}}, {{a}}, {{b}}, {{c}}", [32] * 3, 32)
            references[f"shf.{side}.{how}"] = funnel(side == "l", how == "wrap")
    for how in ("clamp", "wrap"):
        instructions[f"bmsk.{how}"] = (f"bmsk.{how}.b32 {{d}}, {{a}}, {{b}}", [32] * 2, 32)
        references[f"bmsk.{how}"] = bmsk(how == "wrap")
    for kind in "us":
        instructions[f"szext.{kind}"] = (f"szext.clamp.{kind}32 {{d}}, {{a}}, {{b}}", [32] * 2, 32)
        references[f"szext.{kind}"] = szext(kind)
        for other in "us":
            instructions[f"dp4a.{kind}{other}"] = (f"dp4a.{kind}32.{other}32 {{d}}, {{a}}, {{b}}, {{c}}", [32] * 3, 32)
            references[f"dp4a.{kind}{other}"] = dp4a(kind, other)
    check(instructions, references, inputs(32, rng))


def test_packed_halves(seed):
    rng = random.Random(seed)

    def halves(f, kind):
        def both(a, b):
            out = 0
            for s in (0, 16):
                x, y = a >> s & 0xFFFF, b >> s & 0xFFFF
                out |= (f(*((signed(v, 16) if kind == "s" else v) for v in (x, y))) & 0xFFFF) << s
            return out

        return both

    instructions, references = {}, {}
    for kind in "us":
        for name, f in (("add", lambda a, b: a + b), ("min", min), ("max", max)):
            instructions[f"{name}.{kind}"] = (f"{name}.{kind}16x2 {{d}}, {{a}}, {{b}}", [32] * 2, 32)
            references[f"{name}.{kind}"] = halves(f, kind)
    instructions["min.relu"] = ("min.relu.s16x2 {d}, {a}, {b}", [32] * 2, 32)
    references["min.relu"] = halves(lambda a, b: max(min(a, b), 0), "s")
    check(instructions, references, inputs(32, rng))


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_comparisons_and_selections(bits, seed):
    rng = random.Random(seed)
    instructions, references = {}, {}
    names = {"eq": "__eq__", "ne": "__ne__", "lt": "__lt__", "le": "__le__", "gt": "__gt__", "ge": "__ge__"}
    for kind in "us":
        for name, method in names.items():
            instructions[f"{name}.{kind}"] = (
                f"setp.{name}.{kind}{bits} %p1|%p2, {{a}}, {{b}};\nselp.u32 {{d}}, 1, 2, %p1;\n@%p2 add.u32 {{d}}, {{d}}, 4",
                [bits] * 2,
                32,
            )

            def holds(a, b, kind=kind, method=method):
                x, y = (signed(v, bits) if kind == "s" else v for v in (a, b))
                return 1 if getattr(x, method)(y) else 6

            references[f"{name}.{kind}"] = holds
    instructions["lo.and"] = (
        f"setp.ne.u{bits} %p3, {{a}}, 0;\nsetp.lo.and.u{bits} %p1, {{a}}, {{b}}, !%p3;\nselp.u32 {{d}}, 1, 0, %p1",
        [bits] * 2,
        32,
    )
    references["lo.and"] = lambda a, b: a < b and a == 0
    instructions["slct"] = (f"slct.u{bits}.s32 {{d}}, {{a}}, {{b}}, {{c}}", [bits, bits, 32], bits)
    references["slct"] = lambda a, b, c: a if signed(c, 32) >= 0 else b
    if bits > 16:
        instructions["set"] = (f"set.gt.u32.s{bits} {{d}}, {{a}}, {{b}}", [bits] * 2, 32)
        references["set"] = lambda a, b: -1 if signed(a, bits) > signed(b, bits) else 0
        instructions["set f32"] = (f"set.le.f32.u{bits} {{d}}, {{a}}, {{b}}", [bits] * 2, 32)
        references["set f32"] = lambda a, b: 0x3F800000 if a <= b else 0
    arrays = inputs([bits, bits, 32], rng)
    arrays[1][::5] = arrays[0][::5]
    check(instructions, references, arrays)


def test_moves():
    a = np.arange(THREADS, dtype=np.uint32) * 0x01010101
    text = "mov.b32 {{%h1, %h2}}, {a};\nmov.b32 {d}, {{%h2, %h1}}"
    wide = "mov.b64 %d20, {{{a}, 7}};\nmov.b64 {{_, {d}}}, %d20"
    inner = "{{ .reg .b32 tmp;\nmov.b64 %d20, {{9, {a}}};\nmov.b64 {{tmp, {d}}}, %d20; }}\nmov.b32 {d}, {d}"
    octets = "mov.b32 {{%b1, %b2, %b3, %b4}}, {a};\nmov.b32 {d}, {{%b4, %b3, %b2, %b1}}"
    check(
        {"swap": (text, [32], 32), "upper": (wide, [32], 32), "inner": (inner, [32], 32), "bytes": (octets, [32], 32)},
        {
            "swap": lambda v: v >> 16 | v << 16,
            "upper": lambda v: 7,
            "inner": lambda v: v,
            "bytes": lambda v: int.from_bytes(v.to_bytes(4, "little"), "big"),
        },
        [a],
    )
