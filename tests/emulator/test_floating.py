"""Floating-point instructions, bit by bit, against exact arithmetic with fractions."""

from __future__ import annotations

import math
import operator
import random
from fractions import Fraction

import numpy as np
import pytest

from tests.emulator.kernels import elementwise
from tests.emulator.reference import (
    CANONICAL,
    INF,
    NAN,
    arithmetic,
    decode,
    encode,
    integers,
    patterns,
    signed,
    square_root,
    width,
)

THREADS = 128
MODES = ("rn", "rz", "rm", "rp")


def inputs(name, rng, count):
    arrays = [np.array(patterns(name, THREADS, rng), f"u{width(name) // 8}") for _ in range(count)]
    sign = 1 << (width(name) - 1)
    arrays[1 % count][::7] = arrays[0][::7]  # sums that cancel, quotients of one
    arrays[1 % count][::14] ^= sign
    if count == 3:
        for n in range(0, THREADS, 5):  # a * b + c that nearly cancels
            product = arithmetic(name, "mul", [int(arrays[0][n]), int(arrays[1][n])])
            arrays[2][n] = (product ^ sign) + rng.randrange(2) & (2 * sign - 1)
    return arrays


def is_nan(name, bits):
    return decode(name, bits)[1] == NAN


def check(name, instructions, references, arrays, out=None, **options):
    out = out or name
    results = elementwise(instructions, arrays, nan="f8" if "f64" in (name, out) else "", **options)
    for label, (_, widths, _) in instructions.items():
        for n, values in enumerate(zip(*(a.tolist() for a in arrays[: len(widths)]))):
            wanted, got = references[label](*values), int(results[label][n])
            if name == "f64" and out == "f64" and is_nan("f64", wanted) and is_nan("f64", got):
                continue  # which NaN f64 gives is left open
            assert got == wanted, f"{label}{tuple(map(hex, values))}: {got:#x}, not {wanted:#x}"


def sources(name, count):
    return [width(name)] * count


@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64"])
def test_arithmetic(name, seed):
    rng = random.Random(seed)
    bits = width(name)
    modes = MODES if name in ("f32", "f64") else ("rn",)
    instructions, references = {}, {}
    for mode in modes:
        for op, count in (("add", 2), ("sub", 2), ("mul", 2), ("fma", 3)):
            label = f"{op}.{mode}.{name}"
            names = ", ".join("{" + c + "}" for c in "abc"[:count])
            instructions[label] = (f"{label} {{d}}, {names}", sources(name, count), bits)
            references[label] = lambda *v, op=op, mode=mode: arithmetic(name, op, list(v), mode)
        if name in ("f32", "f64"):
            label = f"div.{mode}.{name}"
            instructions[label] = (f"{label} {{d}}, {{a}}, {{b}}", sources(name, 2), bits)
            references[label] = lambda a, b, mode=mode: arithmetic(name, "div", [a, b], mode)
            for op in ("sqrt", "rcp"):
                label = f"{op}.{mode}.{name}"
                instructions[label] = (f"{label} {{d}}, {{a}}", [bits], bits)
            one = encode(name, 1)
            references[f"sqrt.{mode}.{name}"] = lambda a, mode=mode: square_root(name, a, mode)
            references[f"rcp.{mode}.{name}"] = lambda a, mode=mode: arithmetic(name, "div", [one, a], mode)
    check(name, instructions, references, inputs(name, rng, 3))


def test_products_and_sums_are_rounded_once(seed):
    """What float64 would round to the middle of two f32, of every sign and scale, down to subnormal results."""
    rng = random.Random(seed)
    one, rows = 1 << 23, []
    for _ in range(THREADS):
        # (1 + x)(1 - x) * 2**-24 lies just below half a unit of c, and is added to it or taken from it.
        x = 1 << rng.randrange(0, 11)
        scale = rng.choice([0, 0, 20, -20, -110, -140])
        a, b = Fraction(one + x, one), Fraction(one - x, one) * Fraction(2) ** (scale - 24)
        c = Fraction(one + rng.randrange(4), one) * Fraction(2) ** scale
        sign = rng.choice([1, -1])
        rows.append([encode("f32", a), encode("f32", b * sign), encode("f32", c * rng.choice([sign, -sign]))])
    arrays = [np.array(column, np.uint32) for column in zip(*rows)]
    instructions = {f"fma.{m}.f32": (f"fma.{m}.f32 {{d}}, {{a}}, {{b}}, {{c}}", [32] * 3, 32) for m in MODES}
    references = {f"fma.{m}.f32": lambda *v, m=m: arithmetic("f32", "fma", list(v), m) for m in MODES}
    check("f32", instructions, references, arrays)


def flushed(name, bits):
    """Subnormal numbers become zeros of their sign."""
    e = {"f16": 10, "f32": 23}[name]
    return bits if (bits >> e) & ((1 << (width(name) - 1 - e)) - 1) else bits & 1 << (width(name) - 1)


def saturated(name, bits):
    negative, value = decode(name, bits)
    if value == NAN or (negative and value != 0) or value == 0:
        return 0
    return encode(name, 1) if value == INF or value > 1 else bits


@pytest.mark.parametrize("name", ["f16", "f32"])
def test_flushing_and_saturation(name, seed):
    rng = random.Random(seed)
    bits = width(name)
    instructions, references = {}, {}
    for op, count in (("add", 2), ("mul", 2), ("fma", 3)):
        names = ", ".join("{" + c + "}" for c in "abc"[:count])
        for suffix in (".ftz", ".sat", ".ftz.sat"):
            label = f"{op}.rn{suffix}.{name}"
            instructions[label] = (f"{label} {{d}}, {names}", sources(name, count), bits)

            def reference(*v, op=op, ftz="ftz" in suffix, sat="sat" in suffix):
                v = [flushed(name, x) for x in v] if ftz else list(v)
                result = arithmetic(name, op, v)
                result = flushed(name, result) if ftz else result
                return saturated(name, result) if sat else result

            references[label] = reference
    if name == "f16":
        label = "fma.rn.relu.f16"
        instructions[label] = (f"{label} {{d}}, {{a}}, {{b}}, {{c}}", sources(name, 3), bits)

        def relu(*v):
            result = arithmetic(name, "fma", list(v))
            negative, value = decode(name, result)
            return result if value == NAN else 0 if negative or value == 0 else result

        references[label] = relu
    check(name, instructions, references, inputs(name, rng, 3))


@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_packed(name, seed):
    rng = random.Random(seed)
    pairs = [
        np.array([a | b << 16 for a, b in zip(patterns(name, THREADS, rng), patterns(name, THREADS, rng))], np.uint32)
        for _ in range(3)
    ]
    instructions, references = {}, {}

    def both(f):
        return lambda *v: f(*(x & 0xFFFF for x in v)) | f(*(x >> 16 for x in v)) << 16

    for op, count in (("add", 2), ("sub", 2), ("mul", 2), ("fma", 3)):
        names = ", ".join("{" + c + "}" for c in "abc"[:count])
        label = f"{op}.rn.{name}x2"
        instructions[label] = (f"{label} {{d}}, {names}", [32] * count, 32)
        references[label] = both(lambda *v, op=op: arithmetic(name, op, list(v)))
    for op in ("min", "max"):
        instructions[op] = (f"{op}.NaN.{name}x2 {{d}}, {{a}}, {{b}}", [32] * 2, 32)
        references[op] = both(lambda a, b, op=op: extreme(name, op, [a, b], True))
    instructions["neg"] = (f"neg.{name}x2 {{d}}, {{a}}", [32], 32)
    references["neg"] = both(lambda a: 0x7FFF if is_nan(name, a) else a ^ 0x8000)
    instructions["abs"] = (f"abs.{name}x2 {{d}}, {{a}}", [32], 32)
    references["abs"] = both(lambda a: a & 0x7FFF if not is_nan(name, a) else 0x7FFF)
    text = f"setp.lt.{name}x2 %p1|%p2, {{a}}, {{b}};\nselp.u32 {{d}}, 1, 0, %p1;\n@%p2 add.u32 {{d}}, {{d}}, 2"
    instructions["lt"] = (text, [32] * 2, 32)
    references["lt"] = lambda a, b: less(name, a & 0xFFFF, b & 0xFFFF) + 2 * less(name, a >> 16, b >> 16)
    check(name, instructions, references, pairs, out="b32")


def order(name, bits):
    """A key that orders numbers, -0 below +0."""
    negative, value = decode(name, bits)
    if value == INF:
        return (-math.inf if negative else math.inf, 0)
    return (value, 0 if value != 0 or not negative else -1)


def canonical(name, a):
    """The NaN that neg and abs make of one, as found on hardware; f64 keeps its bits."""
    return CANONICAL[name] if is_nan(name, a) and name != "f64" else None


def less(name, a, b):
    if is_nan(name, a) or is_nan(name, b):
        return False
    return order(name, a)[0] < order(name, b)[0]


def extreme(name, op, values, keep_nan):
    numbers = [v for v in values if not is_nan(name, v)]
    if not numbers or (keep_nan and len(numbers) < len(values)):
        return CANONICAL.get(name, 0x7FF8 << 48)
    return (min if op == "min" else max)(numbers, key=lambda v: order(name, v))


@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64"])
def test_extremes_and_signs(name, seed):
    rng = random.Random(seed)
    bits, sign = width(name), 1 << (width(name) - 1)
    arrays = inputs(name, rng, 3)
    arrays[1][::9] = 0
    arrays[0][::18] = sign
    instructions, references = {}, {}
    for op in ("min", "max"):
        label = f"{op}.{name}"
        instructions[label] = (f"{label} {{d}}, {{a}}, {{b}}", [bits] * 2, bits)
        references[label] = lambda a, b, op=op: extreme(name, op, [a, b], False)
        if name == "f64":
            continue
        label = f"{op}.NaN.{name}"
        instructions[label] = (f"{label} {{d}}, {{a}}, {{b}}", [bits] * 2, bits)
        references[label] = lambda a, b, op=op: extreme(name, op, [a, b], True)
        label = f"{op}.xorsign.abs.{name}"
        instructions[label] = (f"{label} {{d}}, {{a}}, {{b}}", [bits] * 2, bits)

        def xorsign(a, b, op=op):
            result = extreme(name, op, [a & ~sign, b & ~sign], False)
            return result if is_nan(name, result) else result | (a ^ b) & sign

        references[label] = xorsign
    instructions["neg"] = (f"neg.{name} {{d}}, {{a}}", [bits], bits)
    references["neg"] = lambda a: canonical(name, a) or a ^ sign
    instructions["abs"] = (f"abs.{name} {{d}}, {{a}}", [bits], bits)
    references["abs"] = lambda a: canonical(name, a) or a & ~sign
    if name in ("f32", "f64"):
        instructions["copysign"] = (f"copysign.{name} {{d}}, {{a}}, {{b}}", [bits] * 2, bits)
        references["copysign"] = lambda a, b: a & sign | b & ~sign
    check(name, instructions, references, arrays)


@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64"])
def test_comparisons(name, seed):
    rng = random.Random(seed)
    bits = width(name)
    plain = {n: getattr(operator, n) for n in ("eq", "ne", "lt", "le", "gt", "ge")}
    instructions, references = {}, {}
    for op, method in plain.items():
        for suffix, unordered in (("", False), ("u", True)):
            label = op + suffix

            def compare(a, b, method=method, unordered=unordered):
                if is_nan(name, a) or is_nan(name, b):
                    return unordered
                return method(order(name, a)[0], order(name, b)[0])

            instructions[label] = (f"setp.{label}.{name} %p1, {{a}}, {{b}};\nselp.u32 {{d}}, 1, 0, %p1", [bits] * 2, 32)
            references[label] = lambda a, b, f=compare: int(f(a, b))
    for label in ("num", "nan"):
        instructions[label] = (f"setp.{label}.{name} %p1, {{a}}, {{b}};\nselp.u32 {{d}}, 1, 0, %p1", [bits] * 2, 32)
        references[label] = lambda a, b, label=label: int((is_nan(name, a) or is_nan(name, b)) == (label == "nan"))
    if name in ("f32", "f64"):
        for label, test in {
            "finite": lambda v: not isinstance(v, str),
            "infinite": lambda v: v == INF,
            "number": lambda v: v != NAN,
            "notanumber": lambda v: v == NAN,
        }.items():
            instructions[label] = (f"testp.{label}.{name} %p1, {{a}};\nselp.u32 {{d}}, 1, 0, %p1", [bits], 32)
            references[label] = lambda a, test=test: int(test(decode(name, a)[1]))
    check(name, instructions, references, inputs(name, rng, 2), out="b32")


def to_integer(value, negative, rounding, kind, bits, source):
    """cvt to an integer."""
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if kind == "s" else (0, (1 << bits) - 1)
    if value == NAN:
        return 1 << (bits - 1) if bits == 64 or source == "f64" else 0
    if value == INF:
        return low if negative else high
    rounded = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}[rounding](value)
    return max(low, min(high, rounded))


@pytest.mark.parametrize("name", ["f16", "f32", "f64"])
def test_conversions_to_integers(name, seed):
    rng = random.Random(seed)
    instructions, references = {}, {}
    for rounding in ("rni", "rzi", "rmi", "rpi"):
        for kind in "us":
            for bits in (16, 32, 64):
                label = f"cvt.{rounding}.{kind}{bits}.{name}"
                instructions[label] = (f"{label} {{d}}, {{a}}", [width(name)], bits)

                def reference(a, rounding=rounding, kind=kind, bits=bits):
                    negative, value = decode(name, a)
                    return to_integer(value, negative, rounding, kind, bits, name) & ((1 << bits) - 1)

                references[label] = reference
    arrays = inputs(name, rng, 1)
    check(name, instructions, references, arrays, out="int")


@pytest.mark.parametrize("kind", "us")
@pytest.mark.parametrize("bits", [16, 32, 64])
def test_conversions_of_integers(kind, bits, seed):
    rng = random.Random(seed)
    array = np.array(integers(bits, THREADS, rng), f"u{bits // 8}")
    # Near the middle of two f32 or f64: where rounding twice would show.
    for n in range(0, THREADS, 3):
        array[n] = ((rng.getrandbits(24) | 1 << 24) << max(bits - 26, 1) | 1 << max(bits - 27, 0)) + rng.choice(
            [-1, 0, 1]
        ) & (1 << bits) - 1
    see = (lambda v: signed(v, bits)) if kind == "s" else (lambda v: v)
    instructions, references = {}, {}
    for to in ("f16", "bf16", "f32", "f64"):
        for mode in MODES if to in ("f32", "f64") else ("rn",):
            label = f"cvt.{mode}.{to}.{kind}{bits}"
            instructions[label] = (f"{label} {{d}}, {{a}}", [bits], width(to))
            references[label] = lambda a, to=to, mode=mode: encode(to, see(a), False, mode)
    for other in (8, 16, 32, 64):
        for k in "us":
            if (other != bits or k != kind) and (other < bits or (k != kind and other == bits)):
                low, high = (-(1 << (other - 1)), (1 << (other - 1)) - 1) if k == "s" else (0, (1 << other) - 1)
                out = max(other, 16)
                label = f"cvt.sat.{k}{other}.{kind}{bits}"
                instructions[label] = (f"{label} {{d}}, {{a}}", [bits], out)
                references[label] = lambda a, low=low, high=high, out=out: (
                    max(low, min(high, see(a))) & ((1 << out) - 1)
                )
                if other < bits or k == kind:
                    label = f"cvt.{k}{other}.{kind}{bits}"
                    instructions[label] = (f"{label} {{d}}, {{a}}", [bits], out)

                    def cut(a, other=other, k=k, out=out):
                        v = see(a) & ((1 << other) - 1)
                        return (signed(v, other) if k == "s" else v) & ((1 << out) - 1)

                    references[label] = cut
    check("int", instructions, references, [array])


def convert(a, source, to, mode="rn", saturate=False, whole=None):
    negative, value = decode(source, a)
    if value == NAN and source == "f64" and to != "f64":  # its sign and upper digits stay
        digits = {"f32": 23, "f16": 10}[to]
        exponent = encode(to, INF)
        return (
            int(negative) << (width(to) - 1) | exponent | 1 << (digits - 1) | a >> (52 - digits) & ((1 << digits) - 1)
        )
    if value == NAN and source == "bf16":
        return a << 16
    if whole and not isinstance(value, str):
        value = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}[whole](value)
    return encode(to, value, negative, mode, saturate)


def test_conversions_between_formats(seed):
    rng = random.Random(seed)
    table = {
        "f64": ["cvt.rn.f32.f64", "cvt.rz.f32.f64", "cvt.rm.f32.f64", "cvt.rp.f32.f64", "cvt.rn.f16.f64", "cvt.rni.f64.f64", "cvt.rpi.f64.f64"],
        "f32": [
            "cvt.rn.f16.f32", "cvt.rz.f16.f32", "cvt.rn.bf16.f32", "cvt.rz.bf16.f32", "cvt.f64.f32",
            "cvt.rni.f32.f32", "cvt.rzi.f32.f32", "cvt.rmi.f32.f32", "cvt.rpi.f32.f32",
        ],
        "f16": ["cvt.f32.f16", "cvt.f64.f16", "cvt.rni.f16.f16", "cvt.rmi.f16.f16"],
        "bf16": ["cvt.f32.bf16"],
    }  # fmt: skip
    for source, labels in table.items():
        instructions, references = {}, {}
        for label in labels:
            to = label.split(".")[-2]
            mode = label.split(".")[1]
            whole = mode if len(mode) == 3 and mode[0] == "r" else None
            instructions[label] = (f"{label} {{d}}, {{a}}", [width(source)], width(to))
            references[label] = lambda a, to=to, s=source, m=mode, w=whole: convert(
                a, s, to, "rn" if w or m[0] != "r" else m, False, w
            )
        results = elementwise(instructions, arrays := inputs(source, rng, 1), nan="f8")
        for label in labels:
            to = label.split(".")[-2]
            for a, got in zip(arrays[0].tolist(), results[label].tolist()):
                wanted = references[label](a)
                if not (is_nan(to, wanted) and is_nan(to, got) and to == "f64"):
                    assert got == wanted, f"{label}({a:#x}): {got:#x}, not {wanted:#x}"


def test_conversions_to_pairs_and_bytes(seed):
    rng = random.Random(seed)
    arrays = inputs("f32", rng, 2)
    instructions, references = {}, {}
    for label in ("cvt.rn.f16x2.f32", "cvt.rz.f16x2.f32", "cvt.rn.bf16x2.f32", "cvt.rn.relu.f16x2.f32"):
        to, mode = label.split(".")[-2][:-2], label.split(".")[1]
        instructions[label] = (f"{label} {{d}}, {{a}}, {{b}}", [32, 32], 32)

        def pair(a, b, to=to, mode=mode, relu="relu" in label):
            out = [convert(v, "f32", to, mode) for v in (b, a)]
            if relu:
                out = [v if is_nan(to, v) else 0 if v >> 15 else v for v in out]
            return out[0] | out[1] << 16

        references[label] = pair
    for name in ("e4m3", "e5m2"):
        label = f"cvt.rn.satfinite.{name}x2.f32"
        instructions[label] = (f"{label} {{d}}, {{a}}, {{b}}", [32, 32], 16)
        references[label] = lambda a, b, n=name: (
            convert(b, "f32", n, "rn", True) | convert(a, "f32", n, "rn", True) << 8
        )
    instructions["tf32"] = ("cvt.rna.tf32.f32 {d}, {a}", [32], 32)

    def tf32(a):
        negative, value = decode("f32", a)
        if value == NAN:
            return a & 0xFFFFE000
        rounded = a + 0x1000 & 0xFFFFE000
        return a if value == INF else rounded

    references["tf32"] = tf32
    check("f32", instructions, references, arrays, out="packed")
    codes = np.arange(256, dtype=np.uint16)
    words = np.array([n | (n * 7 + 3 & 255) << 8 for n in range(256)], np.uint16)
    back, wanted = {}, {}
    for name in ("e4m3", "e5m2"):
        label = f"cvt.rn.f16x2.{name}x2"
        back[label] = (f"{label} {{d}}, {{a}}", [16], 32)
        wanted[label] = lambda a, n=name: convert(a & 255, n, "f16") | convert(a >> 8, n, "f16") << 16
    check("f16", back, wanted, [words], out="packed")
    halves = np.array([a | b << 16 for a, b in zip(patterns("f16", 256, rng), patterns("f16", 256, rng))], np.uint32)
    narrow = {
        f"cvt.rn.satfinite.{n}x2.f16x2": (f"cvt.rn.satfinite.{n}x2.f16x2 {{d}}, {{a}}", [32], 16)
        for n in ("e4m3", "e5m2")
    }
    check(
        "f16",
        narrow,
        {
            label: lambda a, n=label.split(".")[3][:4]: (
                convert(a & 0xFFFF, "f16", n, "rn", True) | convert(a >> 16, "f16", n, "rn", True) << 8
            )
            for label in narrow
        },
        [halves],
        out="packed",
    )
    assert codes.size == 256


def test_approximations(seed):
    """Within a unit in the last place of the exact result; special operands as the ISA's tables have them."""
    rng = np.random.default_rng(seed)
    x = np.abs(rng.standard_normal(256)).astype(np.float32) + np.float32(0.01)
    special = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40], np.float32)
    x[: len(special)] = special
    functions = {
        "ex2.approx.f32": np.exp2,
        "ex2.approx.ftz.f32": np.exp2,
        "lg2.approx.f32": np.log2,
        "sin.approx.f32": np.sin,
        "cos.approx.f32": np.cos,
        "tanh.approx.f32": np.tanh,
        "rcp.approx.f32": lambda v: 1 / v,
        "rsqrt.approx.f32": lambda v: 1 / np.sqrt(v),
        "sqrt.approx.f32": np.sqrt,
    }
    results = elementwise({label: (f"{label} {{d}}, {{a}}", [32], 32) for label in functions}, [x], gpu=False)
    with np.errstate(all="ignore"):
        for label, function in functions.items():
            exact = function(x.astype(np.float64)).astype(np.float32)
            if "ftz" in label:
                exact[5:7] = 1
            got = results[label].view(np.float32)
            np.testing.assert_allclose(got, exact, rtol=2.0**-23, err_msg=label)
            number = ~np.isnan(exact)
            np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(exact[number]), err_msg=label)


def test_gross_approximations_of_f64():
    x = np.array([1.5, -3.0, 1e300, 1e-300, 0.0, np.inf] * 20 + [0.1] * 8)
    labels = ["rcp.approx.ftz.f64", "rsqrt.approx.ftz.f64"]
    results = elementwise({label: (f"{label} {{d}}, {{a}}", [64], 64) for label in labels}, [x], gpu=False)
    with np.errstate(all="ignore"):
        for label, exact in zip(labels, (1 / x, 1 / np.sqrt(x))):
            got = results[label].view(np.float64)
            np.testing.assert_allclose(got, exact, rtol=2.0**-20, err_msg=label)
            assert not (results[label][:2] & np.uint64(0xFFFFFFFF)).any()
