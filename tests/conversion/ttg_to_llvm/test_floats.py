"""Operations on floats on emulated GPUs, for all types and several chips, against NumPy in higher precision."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conversion.ttg_to_llvm.elementwise import Step, run
from tests.e2e.buffers import decode, encode

SIZE = 256
TYPES = ["f16", "bf16", "f32", "f64"]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, np.inf, -np.inf, np.nan, 65504.0, 1e-7, -1e-7, 6e-8, 3.0]

COMPARISONS = {
    "oeq": lambda a, b: a == b,
    "ogt": lambda a, b: a > b,
    "oge": lambda a, b: a >= b,
    "olt": lambda a, b: a < b,
    "ole": lambda a, b: a <= b,
    "one": lambda a, b: (a < b) | (a > b),
    "ord": lambda a, b: ~(np.isnan(a) | np.isnan(b)),
    "ueq": lambda a, b: ~((a < b) | (a > b)),
    "ugt": lambda a, b: ~(a <= b),
    "uge": lambda a, b: ~(a < b),
    "ult": lambda a, b: ~(a >= b),
    "ule": lambda a, b: ~(a > b),
    "une": lambda a, b: a != b,
    "uno": lambda a, b: np.isnan(a) | np.isnan(b),
    "true": lambda a, b: np.ones(a.shape, bool),
    "false": lambda a, b: np.zeros(a.shape, bool),
}


def numbers(ty: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The bits of two operands: all pairs of special numbers."""
    assert len(SPECIAL) ** 2 == SIZE
    a, b = np.meshgrid(SPECIAL, SPECIAL)
    return encode(a.ravel(), ty), encode(b.ravel(), ty)


def ordinary(ty: str, seed: int, low: float = -8.0, high: float = 8.0) -> np.ndarray:
    return encode(np.random.default_rng(seed).uniform(low, high, SIZE), ty)


def same(found: np.ndarray, wanted: np.ndarray, ty: str, what: str) -> None:
    """The same numbers, NaN where NaN is wanted, and the same signs of zero."""
    got, want = decode(found, ty), decode(encode(wanted, ty), ty)
    equal = (got == want) & (np.signbit(got) == np.signbit(want)) | np.isnan(got) & np.isnan(want)
    (bad,) = np.nonzero(~equal)
    assert not len(bad), f"{what} of {ty} at {bad[:5]}: {got[bad[:5]]}, it is {want[bad[:5]]}"


def nan_first(choose):
    return lambda a, b: np.where(np.isnan(a) | np.isnan(b), np.nan, choose(a, b))


def larger(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where((a > b) | ((a == b) & ~np.signbit(a)), a, b)


def smaller(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where((a < b) | ((a == b) & np.signbit(a)), a, b)


def number_first(choose):
    return lambda a, b: np.where(np.isnan(a), b, np.where(np.isnan(b), a, choose(a, b)))


BINARY = {
    "arith.addf": lambda a, b: a + b,
    "arith.subf": lambda a, b: a - b,
    "arith.mulf": lambda a, b: a * b,
    "tt.precise_divf": lambda a, b: a / b,
    "arith.maximumf": nan_first(larger),
    "arith.minimumf": nan_first(smaller),
    "arith.maxnumf": number_first(larger),
    "arith.minnumf": number_first(smaller),
    "math.copysign": np.copysign,
}
UNARY = {
    "arith.negf": np.negative,
    "math.absf": np.abs,
    "math.floor": np.floor,
    "math.ceil": np.ceil,
    "math.trunc": np.trunc,
    "math.roundeven": np.rint,
    "math.round": lambda a: np.copysign(np.floor(np.abs(a) + 0.5), a),
    "tt.precise_sqrt": np.sqrt,
}


@pytest.mark.parametrize("capability", [75, 80, 90])
@pytest.mark.parametrize("ty", TYPES)
def test_exact_operations(ty: str, capability: int, seed: int) -> None:
    a, b = numbers(ty, seed)
    steps = [Step(f"%y = {name} %x0, %x1 : T({ty})", ty) for name in BINARY]
    steps += [Step(f"%y = {name} %x0 : T({ty})", ty) for name in UNARY]
    steps += [
        Step(f"%t = arith.cmpf {p}, %x0, %x1 : T({ty})\n%y = arith.extui %t : T(i1) to T(i8)", "i8")
        for p in COMPARISONS
    ]
    steps += [Step(f"%y = tt.clampf %x0, %x1, %x1, propagateNan = {p} : T({ty})", ty) for p in ("all", "none")]
    outputs, gpu = run(steps, [(ty, a), (ty, b)], capability, per_thread=2)
    x, y = decode(a, ty), decode(b, ty)
    results = iter(outputs)
    with np.errstate(all="ignore"):
        for name, value in BINARY.items():
            same(next(results), value(x, y), ty, name)
        for name, value in UNARY.items():
            same(next(results), value(x), ty, name)
        for name, holds in COMPARISONS.items():
            assert (next(results) == holds(x, y)).all(), f"{name} of {ty}"
        nan = np.isnan(x) | np.isnan(y)
        kept = np.where(nan, np.nan, y)
        same(next(results), kept, ty, "clamp that keeps NaN")
        found = decode(next(results), ty)
        assert (found[~nan] == y[~nan]).all()
    assert ".local" not in gpu.ptx


@pytest.mark.parametrize("ty", ["f16", "bf16"])
def test_native_instructions_of_16_bits(ty: str) -> None:
    a, b = numbers(ty, 0)
    steps = [Step(f"%y = {name} %x0, %x1 : T({ty})", ty) for name in ("arith.addf", "arith.mulf", "arith.maximumf")]
    _, gpu = run(steps, [(ty, a), (ty, b)], 90, num_warps=8)
    assert gpu.count(f"(add|mul)(.rn)?.{ty}") == 2 and gpu.count(f"max.NaN.{ty}") == 1 and gpu.count("cvt") == 0


def ulps(found: np.ndarray, wanted: np.ndarray, ty: str) -> np.ndarray:
    """Distances in units of the last place of the type, where both are numbers; infinite where one is not."""
    got, want = decode(found, ty), decode(encode(wanted, ty), ty)
    digits = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}[ty]
    with np.errstate(all="ignore"):
        unit = 2.0 ** (np.floor(np.log2(np.maximum(np.abs(want), 1e-300))) - digits + 1)
        away = np.abs(got - want) / unit
    exact = (got == want) | (np.isnan(got) & np.isnan(want))
    return np.where(exact, 0, np.where(np.isfinite(got) & np.isfinite(want), away, np.inf))


# function -> (exact, range of operands, allowed error in f32)
APPROXIMATE = {
    "math.exp": (np.exp, -8, 8, 20),
    "math.exp2": (np.exp2, -8, 8, 4),
    "math.log": (np.log, 0.1, 50, 4),
    "math.log2": (np.log2, 0.1, 50, 4),
    "math.sin": (np.sin, -8, 8, 32),
    "math.cos": (np.cos, -8, 8, 32),
    "math.sqrt": (np.sqrt, 0, 50, 2),
    "math.rsqrt": (lambda x: 1 / np.sqrt(x), 0.1, 50, 4),
    "math.tanh": (np.tanh, -4, 4, 4),
}


@pytest.mark.parametrize("ty", TYPES)
def test_functions(ty: str, seed: int) -> None:
    for index, (name, (function, low, high, most)) in enumerate(APPROXIMATE.items()):
        if ty == "f64" and name in ("math.sin", "math.cos"):
            low, high = -3, 3
        x = ordinary(ty, seed + index, low, high)
        (found,), _ = run([Step(f"%y = {name} %x0 : T({ty})", ty)], [(ty, x)])
        away = ulps(found, function(decode(x, ty)), ty)
        limit = {"f16": 1, "bf16": 1, "f32": most, "f64": 4}[ty]
        assert away.max() <= limit, f"{name} of {ty}: {away.max()} units at {decode(x, ty)[away.argmax()]}"


@pytest.mark.parametrize("ty", ["f16", "bf16", "f32"])
def test_divisions_are_near(ty: str, seed: int) -> None:
    a, b = ordinary(ty, seed), ordinary(ty, seed + 1, 0.5, 9)
    steps = [Step(f"%y = arith.divf %x0, %x1 : T({ty})", ty)]
    (found,), gpu = run(steps, [(ty, a), (ty, b)], num_warps=8)
    assert ulps(found, decode(a, ty) / decode(b, ty), ty).max() <= 2
    assert gpu.count("div.full.f32") == 1


@pytest.mark.parametrize("capability", [75, 80, 90])
@pytest.mark.parametrize("ty", TYPES)
def test_fused(ty: str, capability: int, seed: int) -> None:
    a, b, c = (ordinary(ty, seed + i) for i in range(3))
    (found,), _ = run([Step(f"%y = math.fma %x0, %x1, %x2 : T({ty})", ty)], [(ty, a), (ty, b), (ty, c)], capability)
    wide = [decode(v, ty).astype(np.longdouble) for v in (a, b, c)]
    away = ulps(found, (wide[0] * wide[1] + wide[2]).astype(np.float64), ty)
    assert away.max() <= 1


INTEGERS = {f"i{n}": n for n in (8, 16, 32, 64)}


@pytest.mark.parametrize("ty", TYPES)
def test_to_integers(ty: str, seed: int) -> None:
    """What is out of range becomes the nearest integer there is, NaN becomes 0."""
    values = [0.4, -0.9, 127.5, 128.0, -128.9, -129.0, 255.5, 256.0, 32768.0, 65535.5, 2.0**31, -(2.0**31), 2.0**32]
    values += [2.0**63, -(2.0**63), 2.0**64, 1e30, -1e30, np.inf, -np.inf, np.nan]
    values += list(np.random.default_rng(seed).uniform(-300, 300, SIZE - len(values)))
    with np.errstate(over="ignore"):
        x = encode(np.array(values), ty)
    steps = [Step(f"%y = {n} %x0 : T({ty}) to T({i})", i) for n in ("arith.fptosi", "arith.fptoui") for i in INTEGERS]
    outputs, _ = run(steps, [(ty, x)])
    for step, found in zip(steps, outputs):
        width = int(step.result[1:])
        low, high = (-1 << (width - 1), (1 << (width - 1)) - 1) if "fptosi" in step.text else (0, (1 << width) - 1)
        for number, bits in zip(decode(x, ty).tolist(), found):
            exact = 0 if np.isnan(number) else low if number < low else high if number > high else int(number)
            assert int(bits) == exact & ((1 << width) - 1), f"{step.text} of {number}: {int(bits)}, it is {exact}"


@pytest.mark.parametrize("capability", [75, 90])
@pytest.mark.parametrize("ty", TYPES)
def test_from_integers(ty: str, capability: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    for width in (8, 16, 32, 64):
        x = random.integers(0, 1 << 63, SIZE, dtype=np.uint64) * np.uint64(2) >> random.integers(0, 64, SIZE).astype(
            np.uint64
        )
        bits = x.astype(f"u{width // 8}")
        if ty == "bf16" and width == 64:  # by way of f32
            continue
        steps = [Step(f"%y = {n} %x0 : T(i{width}) to T({ty})", ty) for n in ("arith.sitofp", "arith.uitofp")]
        outputs, _ = run(steps, [(f"i{width}", bits)], capability)
        for step, found, kind in zip(steps, outputs, ("i", "u")):
            exact = bits.view(f"{kind}{width // 8}")
            wanted = exact.astype(np.float32) if ty in ("f32", "bf16") else exact.astype(np.float64)
            with np.errstate(over="ignore"):
                same(found, wanted.astype(np.float64), ty, step.text)


@pytest.mark.parametrize("capability", [75, 80, 90])
def test_between_floats(capability: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    for source in TYPES:
        values = np.concatenate(
            [SPECIAL, random.standard_normal(SIZE - len(SPECIAL)) * 10.0 ** random.integers(-8, 8, SIZE - 16)]
        )
        with np.errstate(over="ignore"):
            x = encode(values, source)
        targets = [t for t in TYPES if t != source]
        steps = [Step(f"%y = tt.fp_to_fp %x0, rounding = rtne : T({source}) -> T({t})", t) for t in targets]
        outputs, _ = run(steps, [(source, x)], capability)
        for target, found in zip(targets, outputs):
            exact = decode(x, source)
            with np.errstate(over="ignore"):
                if target == "bf16" and source == "f64":
                    wanted = once_to_bf16(exact)
                else:
                    wanted = exact
                same(found, wanted, target, f"{source} to {target}")


def once_to_bf16(x: np.ndarray) -> np.ndarray:
    """f64 rounded to 8 digits, to nearest even, in one step."""
    mantissa, exponent = np.frexp(x)
    return np.where(np.isfinite(x), np.ldexp(np.rint(mantissa * 256), exponent - 8), x)


@pytest.mark.parametrize(("source", "target"), [("f32", "f16"), ("f32", "bf16"), ("f16", "bf16")])
@pytest.mark.parametrize("capability", [75, 80])
def test_towards_zero(source: str, target: str, capability: int, seed: int) -> None:
    x = ordinary(source, seed, -30, 30)
    (found,), _ = run(
        [Step(f"%y = tt.fp_to_fp %x0, rounding = rtz : T({source}) -> T({target})", target)], [(source, x)], capability
    )
    got, exact = decode(found, target), decode(x, source)
    digits = {"f16": 11, "bf16": 8}[target]
    mantissa, exponent = np.frexp(exact)
    assert (got == np.ldexp(np.trunc(mantissa * 2.0**digits), exponent - digits)).all()


QUESTIONS = {
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
    "isnormal": lambda x: np.isfinite(x) & (np.abs(x) > 0),
}


@pytest.mark.parametrize("ty", TYPES)
def test_questions_and_rare_functions(ty: str, seed: int) -> None:
    a, b = numbers(ty, seed)
    x, y = decode(a, ty), decode(b, ty)
    steps = [Step(f"%t = math.{q} %x0 : T({ty})\n%y = arith.extui %t : T(i1) to T(i8)", "i8") for q in QUESTIONS]
    steps.append(Step(f"%y = math.clampf %x0 to [%x1, %x1] : T({ty})", ty))
    outputs, _ = run(steps, [(ty, a), (ty, b)])
    for (name, holds), found in zip(QUESTIONS.items(), outputs):
        expected = holds(x)
        if name == "isnormal" and ty == "f16":
            expected &= np.abs(x) >= 2.0**-14
        assert (found == expected).all(), name
    number = ~(np.isnan(x) | np.isnan(y))
    assert (decode(outputs[-1], ty)[number] == y[number]).all()
    c = ordinary(ty, seed, 0.5, 3)
    power = np.random.default_rng(seed).integers(0, 5, SIZE).astype(np.uint32)
    (found,), _ = run([Step(f"%y = math.fpowi %x0, %x1 : T({ty}), T(i32)", ty)], [(ty, c), ("i32", power)])
    assert ulps(found, decode(c, ty) ** power, ty).max() <= 4


@pytest.mark.parametrize("ty", ["f16", "bf16"])
def test_the_larger_of_widened_numbers_is_found_without_widening(ty: str) -> None:
    text = f"""%tzero = arith.constant dense<0.0> : T(f32)
    %ta = arith.extf %x0 : T({ty}) to T(f32)
    %tb = arith.extf %x1 : T({ty}) to T(f32)
    %tm = arith.maxnumf %ta, %tb : T(f32)
    %tn = arith.maxnumf %tm, %tzero : T(f32)
    %y = arith.truncf %tn : T(f32) to T({ty})"""
    a, b = numbers(ty, 0)
    (found,), gpu = run([Step(text, ty)], [(ty, a), (ty, b)], 90, num_warps=8)
    x, y = decode(a, ty), decode(b, ty)
    both_nan = np.isnan(x) & np.isnan(y)
    with np.errstate(invalid="ignore"):
        wanted = np.where(both_nan, 0, np.fmax(np.fmax(x, y), 0))
    assert (decode(found, ty) == wanted).all()
    assert gpu.count(rf"max\.{ty}") == 2 and gpu.count("cvt") == 0
