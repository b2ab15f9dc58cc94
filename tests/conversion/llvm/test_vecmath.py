"""The vector math functions: accuracy against C's long doubles, special values, every width, every target."""

from __future__ import annotations

import ast
import re

import llvmlite.binding as llvm
import mpmath
import numpy as np
import pytest

from tests.conversion.llvm import fit_vecmath
from tests.conversion.llvm import vecmath_harness as harness
from tritium.conversion.llvm.vecmath import MATH_FUNCTIONS, vector_math_function
from tritium.conversion.llvm.vecmath.table import MEASURED

OURS = [name for name, spec in MATH_FUNCTIONS.items() if spec.body is not None]
UNARY = [name for name in OURS if MATH_FUNCTIONS[name].arity == 1]
BINARY = [name for name in OURS if MATH_FUNCTIONS[name].arity == 2]
ELEMENTS = ("f32", "f64")
WIDEST = {"f32": 16, "f64": 8}
# Arguments that matter most, besides the sample of all bit patterns: f32, and f64 where it differs.
RANGES = {
    "exp": ((-110, 90), (-760, 720)),
    "exp2": ((-155, 130), (-1080, 1030)),
    "exp10": ((-50, 40), (-330, 310)),
    "expm1": ((-30, 90), (-50, 720)),
    "sinh": ((-92, 92), (-720, 720)),
    "cosh": ((-92, 92), (-720, 720)),
    "tanh": ((-12, 12), (-24, 24)),
    "log1p": ((-1, 10), (-1, 10)),
    "sin": ((-1e4, 1e4), (-1e6, 1e6)),
    "cos": ((-1e4, 1e4), (-1e6, 1e6)),
    "tan": ((-1e4, 1e4), (-1e6, 1e6)),
    "asin": ((-1, 1), (-1, 1)),
    "acos": ((-1, 1), (-1, 1)),
    "atanh": ((-1, 1), (-1, 1)),
    "acosh": ((1, 4), (1, 4)),
    "erf": ((-5, 5), (-7, 7)),
    "erfc": ((-5, 11), (-7, 28)),
    "erfinv": ((-1, 1), (-1, 1)),
    "lgamma": ((-20, 20), (-30, 30)),
    "tgamma": ((-45, 36), (-190, 172)),
}  # fmt: skip
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def arguments(name: str, element: str, count: int, seed: int = 1) -> np.ndarray:
    """All formats' bit patterns, evenly; the range where the function is interesting; around zero; specials."""
    low, high = RANGES.get(name, ((-10, 10), (-10, 10)))[element == "f64"]
    rng = np.random.default_rng(seed)
    usual = rng.uniform(low, high, count // 2)
    return np.concatenate([harness.spread(element, count, seed), usual, rng.uniform(-2, 2, count // 4)])


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("name", UNARY)
def test_unary_accuracy(name: str, element: str, all_cases: bool) -> None:
    spec = MATH_FUNCTIONS[name]
    if not harness.has_reference(name):
        pytest.skip("no long double reference on this platform")
    x = arguments(name, element, (2**20 if element == "f32" else 2**18) >> (0 if all_cases else 3))
    error, where = harness.worst(name, element, WIDEST[element], x)
    bound = spec.ulp_f32 if element == "f32" else spec.ulp_f64
    assert error <= bound, f"{name}({where[0]!r}) is wrong by {error:.3f} ulp"
    if element == "f32" and name != "erfinv":  # the sweep of all arguments found no more than this
        assert error <= MEASURED[name][0], f"{name}({where[0]!r}) is wrong by {error:.4f} ulp"


def pairs_of_arguments(name: str, element: str, count: int, seed: int = 11) -> tuple[np.ndarray, np.ndarray]:
    """Any with any, the usual with the usual, specials with specials, numbers close to each other, small integers."""
    rng = np.random.default_rng(seed)
    special = np.concatenate([harness.specials(element)[::9], np.array([0, 1, 2, 3, 0.5, np.inf, np.nan])])
    special = np.concatenate([special, -special])
    first, second = (rng.permutation(harness.spread(element, count // 4, seed + i)) for i in (1, 2))
    usual = rng.uniform(-10, 10, (2, count // 4))
    usual[0] = np.abs(usual[0]) if name == "pow" else usual[0]
    near = rng.uniform(0.5, 2, count // 4)
    close = near * (1 + rng.integers(-4, 5, near.size) * 2.0**-20)
    if name == "pow":  # results over the whole range of exponents
        near, close = 1 + (near - 1) * 2.0**-10, rng.uniform(-2e5, 2e5, near.size)
    crossed = np.meshgrid(special, special)
    whole = rng.integers(-40, 40, (2, count // 8))
    columns = [(first, second), usual, (near, close), (crossed[0].ravel(), crossed[1].ravel()), whole]
    return np.concatenate([c[0] for c in columns]), np.concatenate([c[1] for c in columns])


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("name", BINARY)
def test_binary_accuracy(name: str, element: str, all_cases: bool) -> None:
    """Errors in ulp, and the signs of zeros, over pairs of arguments."""
    if not harness.has_reference(name):
        pytest.skip("no long double reference on this platform")
    spec = MATH_FUNCTIONS[name]
    inputs = [
        a.astype(harness.DTYPE[element]) for a in pairs_of_arguments(name, element, 2**19 if all_cases else 2**16)
    ]
    got, exact = harness.compiled(name, element, WIDEST[element])(*inputs), harness.reference(name, *inputs)
    errors = harness.ulp_errors(got, exact, element)
    worst = int(errors.argmax())
    bound = spec.ulp_f32 if element == "f32" else spec.ulp_f64
    assert errors[worst] <= bound, f"{name}{tuple(a[worst] for a in inputs)} = {got[worst]}, not {exact[worst]}"
    wrong = (got == 0) & (exact == 0) & (np.signbit(got) != np.signbit(exact))
    assert not wrong.any(), [a[wrong][:5] for a in inputs]


@pytest.mark.sample(2)
@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("name", OURS)
def test_every_width_gives_the_same_bits(name: str, element: str) -> None:
    """A lane's result depends neither on the width nor on its neighbours, though slow paths serve whole vectors."""
    arity = MATH_FUNCTIONS[name].arity
    rng = np.random.default_rng(7)
    inputs = [rng.permutation(arguments(name, element, 2**12, seed)) for seed in range(arity)]
    expected = harness.compiled(name, element, 1)(*inputs)
    for lanes in (2, 4, 8, 16):
        got = harness.compiled(name, element, lanes)(*inputs)
        same = (got == expected) | (np.isnan(got) & np.isnan(expected))
        assert same.all(), (lanes, [a[~same][:3] for a in inputs], got[~same][:3], expected[~same][:3])
        assert (np.signbit(got) == np.signbit(expected))[~np.isnan(got)].all()


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("cpu", ["x86-64", "x86-64-v3"])
def test_older_machines_give_the_same_bits(cpu: str, element: str) -> None:
    """AVX2, and plain SSE2 whose fma is a library call."""
    if not harness.host_runs(cpu):
        pytest.skip(f"this machine does not run {cpu} code")
    for name, spec in MATH_FUNCTIONS.items():
        rng = np.random.default_rng(8)
        inputs = [rng.permutation(arguments(name, element, 2**10, seed)) for seed in range(spec.arity)]
        got, expected = (harness.compiled(name, element, 4, where)(*inputs) for where in (cpu, ""))
        same = (got == expected) & (np.signbit(got) == np.signbit(expected)) | (np.isnan(got) & np.isnan(expected))
        assert same.all(), (name, [a[~same][:3] for a in inputs], got[~same][:3], expected[~same][:3])


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("name", UNARY)
def test_signs_of_zero_and_nan(name: str, element: str) -> None:
    """Zeros have the sign C gives them, and a NaN in gives a NaN out, whatever its payload."""
    if not harness.has_reference(name):
        pytest.skip("no long double reference on this platform")
    x = harness.specials(element)
    got, exact = harness.compiled(name, element, WIDEST[element])(x), harness.reference(name, x)
    assert np.isnan(got[np.isnan(x)]).all()
    zeros = (got == 0) & (exact == 0)
    wrong = zeros & (np.signbit(got) != np.signbit(exact))
    assert not wrong.any(), x[wrong]
    assert (np.isnan(got) == np.isnan(exact)).all(), x[np.isnan(got) != np.isnan(exact)]


@pytest.mark.parametrize("element", ELEMENTS)
def test_exact_results(element: str) -> None:
    powers = np.arange(-126, 128, dtype=np.float64)
    run = harness.compiled("exp2", element, 4)
    assert (run(powers) == 2.0**powers).all()
    assert (harness.compiled("log2", element, 4)(2.0**powers) == powers).all()
    zero = np.zeros(4)
    assert (harness.compiled("exp", element, 4)(zero) == 1).all()
    assert (harness.compiled("cos", element, 4)(zero) == 1).all()


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_arguments_next_to_multiples_of_half_pi(name: str) -> None:
    """The floats closest to k pi/2, found by continued fractions in every binade: cancellation at its worst."""
    for element, bits, exponents in (("f32", 24, range(-10, 104, 3)), ("f64", 53, range(-30, 970, 40))):
        x = np.array([v for e in exponents for v in closest_to_multiples(bits, e)], harness.DTYPE[element])
        got = harness.compiled(name, element, 8)(x)
        with mpmath.workprec(1400):
            exact = np.array([np.longdouble(mpmath.nstr(getattr(mpmath, name)(mpmath.mpf(float(v))), 25)) for v in x])
        errors = harness.ulp_errors(got, exact, element)
        assert errors.max() <= 1.0, (x[errors.argmax()], errors.max())


def closest_to_multiples(bits: int, exponent: int) -> list[float]:
    """m 2^exponent, m < 2^bits, for the convergents m / k of (pi/2) / 2^exponent."""
    found = []
    with mpmath.workprec(1400):
        rest = mpmath.pi / 2 / mpmath.mpf(2) ** exponent
        previous, current = (0, 1), (1, 0)
        for _ in range(400):
            whole = int(mpmath.floor(rest))
            previous, current = current, (whole * current[0] + previous[0], whole * current[1] + previous[1])
            if current[0] >= 2**bits:
                break
            if current[0] >= 2 ** (bits - 12) and current[1]:
                found.append(float(current[0]) * 2.0**exponent)
            rest = 1 / (rest - whole)
    return found


def test_reference_agrees_with_mpmath() -> None:
    """The yardstick itself."""
    x = np.random.default_rng(3).uniform(0.1, 0.9, 40)
    with mpmath.workprec(120):
        for name in ("exp", "log", "sin", "tan", "tanh", "erf", "expm1", "asin", "cbrt"):
            exact = [np.longdouble(mpmath.nstr(getattr(mpmath, name)(mpmath.mpf(float(v))), 25)) for v in x]
            assert harness.ulp_errors(np.array(exact), harness.reference(name, x), "f64").max() < 2e-3


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("name", [n for n, s in MATH_FUNCTIONS.items() if s.body is None])
def test_native_functions(name: str, element: str) -> None:
    arity = MATH_FUNCTIONS[name].arity
    rng = np.random.default_rng(5)
    inputs = [rng.permutation(harness.spread(element, 2**12, seed)) for seed in range(arity)]
    with np.errstate(all="ignore"):
        assert harness.worst(name, element, 8, *inputs)[0] <= 0.5


TARGETS = {
    "x86-64-v4": ("x86_64-unknown-linux-gnu", "x86-64-v4", ""),
    "x86-64-v3": ("x86_64-unknown-linux-gnu", "x86-64-v3", ""),
    "aarch64": ("aarch64-unknown-linux-gnu", "generic", "+neon"),
    "aarch64-macos": ("arm64-apple-macosx14.0.0", "apple-m1", ""),
}
CALL = re.compile(r"^\s+(?:callq?|bl|b|jmp)\s+([A-Za-z_][\w.]*)|([A-Za-z_][\w.]*)@GOT", re.MULTILINE)


def external_calls(assembly: str) -> set[str]:
    """Targets of calls that are neither labels nor our own functions."""
    own = set(re.findall(r"^(\S+):", assembly, re.MULTILINE))
    return {name for groups in CALL.findall(assembly) for name in groups if name and name not in own}


def assembly_for(target: str, text: str) -> str:
    """The optimized module's assembly, with the small code model, so that calls are written as calls."""
    harness.initialize()
    triple, cpu, features = TARGETS[target]
    machine = llvm.Target.from_triple(triple).create_target_machine(
        cpu=cpu, features=features, opt=3, reloc="pic", codemodel="small"
    )
    return machine.emit_assembly(harness.optimized(text, machine, triple))


@pytest.mark.sample(3)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("element", ELEMENTS)
def test_no_library_call_is_left(target: str, element: str) -> None:
    """Every function at every width compiles for the target, and calls nothing from outside."""
    for name, spec in MATH_FUNCTIONS.items():
        for lanes in (1, 4, WIDEST[element]):
            text = harness.loop_text(vector_math_function(name, element, lanes), spec.arity)
            assembly = assembly_for(target, text)
            assert "loop" in assembly
            assert not external_calls(assembly), (name, lanes, external_calls(assembly))


@pytest.mark.parametrize("target", TARGETS)
def test_library_calls_are_noticed(target: str) -> None:
    """The check above sees what LLVM makes of its own llvm.exp."""
    text = """declare <4 x float> @llvm.exp.v4f32(<4 x float>)
        define <4 x float> @loop(<4 x float> %x) {
        %r = call <4 x float> @llvm.exp.v4f32(<4 x float> %x)
        ret <4 x float> %r\n}"""
    assert {name.lstrip("_") for name in external_calls(assembly_for(target, text))} == {"expf"}


def test_compiles_without_fma() -> None:
    """Plain SSE2 has no fma instruction: slow there (library calls), but it must compile."""
    harness.initialize()
    triple = "x86_64-unknown-linux-gnu"
    machine = llvm.Target.from_triple(triple).create_target_machine(cpu="x86-64", opt=3, reloc="pic")
    for name in ("exp", "sin", "erf", "log"):
        text = harness.loop_text(vector_math_function(name, "f32", 4), 1)
        assert "fma" in machine.emit_assembly(harness.optimized(text, machine, triple))


def test_the_text_is_self_contained_and_marked_pure() -> None:
    function = vector_math_function("sin", "f32", 16)
    assert function.symbol == "tt.sin.v16f32"
    assert "alwaysinline nounwind willreturn memory(none)" in function.text
    assert [f.symbol for f in function.all_functions()] == [
        "tt.two_over_pi.f32",
        "tt.sin.large.v16f32",
        "tt.sin.v16f32",
    ]
    assert vector_math_function("sin", "f32", 16) is function
    for fast_math in (" fast ", " contract ", " reassoc ", " afn "):
        assert all(fast_math not in f.text for f in function.all_functions())


@pytest.mark.parametrize("element", ELEMENTS)
def test_no_branch_depends_on_a_poison_lane(element: str) -> None:
    """Lanes that a mask switched off may hold poison; functions with branches freeze their operands first."""
    branching = 0
    for name, spec in MATH_FUNCTIONS.items():
        if spec.body is None:
            continue
        lines = vector_math_function(name, element, 8).text.splitlines()
        if any(line.lstrip().startswith("br ") for line in lines):
            branching += 1
            uses = [line for line in lines[1:] for operand in "xyz"[: spec.arity] if re.search(rf"%{operand}\b", line)]
            assert len(uses) == spec.arity, (name, uses)
            assert all("freeze" in line for line in uses), (name, uses)
    assert branching == 8


def test_stated_bounds_cover_what_was_measured() -> None:
    for name, measured in MEASURED.items():
        spec = MATH_FUNCTIONS[name]
        for bound, error in zip((spec.ulp_f32, spec.ulp_f64), measured, strict=True):
            assert error <= bound and (bound <= 1.0 or bound < error + 1.35), name
    assert set(MEASURED) == set(OURS)


def test_unknown_requests() -> None:
    with pytest.raises(KeyError, match="arcsine"):
        vector_math_function("arcsine", "f32", 4)
    with pytest.raises(KeyError, match="f16"):
        vector_math_function("exp", "f16", 4)
    with pytest.raises(ValueError, match="0 lanes"):
        vector_math_function("exp", "f32", 0)


@pytest.mark.sample(3, "name")
@pytest.mark.parametrize("name", ["exp_f32", "sin_f32", "log_f32", "exp2_wide", "cbrt"])
def test_coefficients_are_what_the_fit_gives(name: str) -> None:
    fit = fit_vecmath.FITS[name]()
    coefficients, _ = fit_vecmath.fit_rounded(fit)
    _, _, node = fit_vecmath.coefficients_in_source(name)
    written = [mpmath.mpf(ast.literal_eval(element)) for element in node.elts]
    assert [fit_vecmath.rounded(w, fit.bits) for w in written] == coefficients


def test_every_fit_has_its_place() -> None:
    assert set(fit_vecmath.FITS) == set(fit_vecmath.PLACES)
    for name in fit_vecmath.FITS:
        _, _, node = fit_vecmath.coefficients_in_source(name)
        assert len(node.elts) == fit_vecmath.FITS[name]().degree + 1


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("name", ["exp", "exp2"])
def test_avx512_variant_agrees_with_the_portable_one(name: str, element: str) -> None:
    """The same numbers but for the last bit of subnormal results, which are rounded by other means."""
    if not llvm.get_host_cpu_features().get("avx512f"):
        pytest.skip("needs AVX-512")
    lanes = WIDEST[element]
    x = arguments(name, element, 2**18)
    portable, wide = (harness.compiled(name, element, lanes, avx512=a)(x) for a in (False, True))
    tiny = np.finfo(portable.dtype).tiny
    normal = ~(np.abs(portable) < tiny)
    np.testing.assert_array_equal(wide[normal], portable[normal])
    step = np.finfo(portable.dtype).smallest_subnormal
    assert np.abs(wide[~normal] - portable[~normal]).max(initial=0) <= step
