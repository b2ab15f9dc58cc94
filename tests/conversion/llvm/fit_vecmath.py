"""Derive the polynomial coefficients of `tritium.conversion.llvm.vecmath`.

    python tests/conversion/llvm/fit_vecmath.py            # all of them (some minutes)
    python tests/conversion/llvm/fit_vecmath.py exp_f32    # one
    python tests/conversion/llvm/fit_vecmath.py --update   # and write them into the sources

Every entry is a weighted minimax problem: find P of a given degree that minimizes
max |W(x) * (g(x) - P(u(x)))| over an interval, solved by Remez' exchange with mpmath at 120 digits. W is chosen
so that the figure printed is the relative error of the whole function. The coefficients are rounded to the target
precision one after another, the lowest first, and the remaining ones are fitted again to what is left: the printed
error is that of the rounded polynomial.
"""

from __future__ import annotations

import ast
import math
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import mpmath as mp

mp.mp.dps = 120
SOURCES = Path(__file__).resolve().parents[3] / "tritium/conversion/llvm/vecmath"
Real = Callable[[mp.mpf], mp.mpf]


@dataclass(frozen=True)
class Fit:
    """One problem: target `g`, weight `weight`, argument of the polynomial `u`, on [low, high]."""

    g: Real
    weight: Real
    low: float
    high: float
    degree: int
    bits: int
    u: Real = lambda x: x
    points: int = 1200


def rounded(value: mp.mpf, bits: int) -> mp.mpf:
    """`value` in f32 (24) or f64 (53)."""
    number = float(value)
    if bits == 24:
        # Two roundings (to double, then to float) can differ from one only in the last bit of ties.
        number = struct.unpack("<f", struct.pack("<f", number))[0]
    return mp.mpf(number)


def grid(fit: Fit) -> list[mp.mpf]:
    """Chebyshev-spaced points, none of them zero."""
    middle, half = mp.mpf(fit.low + fit.high) / 2, (mp.mpf(fit.high) - mp.mpf(fit.low)) / 2
    xs = [middle - half * mp.cos(mp.pi * (i + mp.mpf("0.37")) / fit.points) for i in range(fit.points)]
    return [x for x in xs if abs(x) > mp.mpf(10) ** -9]


def solve(us: list, gs: list, ws: list, picks: list[int], degree: int) -> tuple[list, mp.mpf]:
    """The polynomial whose weighted error is +-E in turn at the points `picks`."""
    size = degree + 2
    matrix, right = mp.matrix(size, size), mp.matrix(size, 1)
    for row, i in enumerate(picks):
        power = mp.mpf(1)
        for column in range(degree + 1):
            matrix[row, column] = power
            power *= us[i]
        matrix[row, degree + 1] = (-1) ** row / ws[i]
        right[row] = gs[i]
    solution = mp.lu_solve(matrix, right)
    return [solution[j] for j in range(degree + 1)], abs(solution[degree + 1])


def alternation(errors: list, size: int) -> list[int]:
    """Indices of `size` extrema of alternating sign, the largest ones."""
    extrema: list[int] = []
    for i, error in enumerate(errors):
        if extrema and (error > 0) == (errors[extrema[-1]] > 0):
            if abs(error) > abs(errors[extrema[-1]]):
                extrema[-1] = i
        else:
            extrema.append(i)
    while len(extrema) > size:
        if len(extrema) == size + 1:
            del extrema[0 if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]) else -1]
            continue
        weakest = min(range(len(extrema) - 1), key=lambda k: abs(errors[extrema[k]]) + abs(errors[extrema[k + 1]]))
        del extrema[weakest : weakest + 2]
    return extrema


def evaluate(coefficients: list, u: mp.mpf) -> mp.mpf:
    total = mp.mpf(0)
    for c in reversed(coefficients):
        total = total * u + c
    return total


def remez(us: list, gs: list, ws: list, degree: int) -> list:
    """The minimax polynomial on a grid."""
    size, count = degree + 2, len(us)
    picks = [round((1 - mp.cos(mp.pi * (i + mp.mpf("0.5")) / size)) / 2 * (count - 1)) for i in range(size)]
    best, least = [], mp.inf
    for _ in range(20):
        coefficients, level = solve(us, gs, ws, picks, degree)
        errors = [w * (g - evaluate(coefficients, u)) for u, g, w in zip(us, gs, ws, strict=True)]
        largest = max(abs(e) for e in errors)
        if largest < least:
            best, least = coefficients, largest
        chosen = alternation(errors, size)
        if len(chosen) < size:
            break
        picks = chosen
        if largest < level * mp.mpf("1.01"):
            break
    return best


def fit_rounded(fit: Fit) -> tuple[list[mp.mpf], mp.mpf]:
    """Coefficients from the lowest up, rounded one after another, and the largest weighted error."""
    xs = grid(fit)
    us = [fit.u(x) for x in xs]
    gs, ws = [fit.g(x) for x in xs], [abs(fit.weight(x)) for x in xs]
    keep = [i for i, w in enumerate(ws) if abs(w) > mp.mpf(10) ** -30]
    us, gs, ws = ([values[i] for i in keep] for values in (us, gs, ws))
    target, scale, fixed = list(gs), list(ws), []
    for degree in range(fit.degree, -1, -1):
        fixed.append(rounded(remez(us, target, scale, degree)[0], fit.bits))
        target = [(t - fixed[-1]) / u for t, u in zip(target, us, strict=True)]
        scale = [abs(s * u) for s, u in zip(scale, us, strict=True)]
    error = max(abs(w * (g - evaluate(fixed, u))) for u, g, w in zip(us, gs, ws, strict=True))
    return fixed, error


def square(x: mp.mpf) -> mp.mpf:
    return x * x


LN2 = mp.log(2)
SQRT = mp.sqrt(mp.mpf(2))


def fit_exp(degree: int, bits: int) -> Fit:
    """exp(r) = 1 + r + r^2 P(r), |r| <= ln2/2."""
    return Fit(lambda r: (mp.expm1(r) - r) / r**2, lambda r: r**2 / mp.exp(r), -0.3475, 0.3475, degree, bits)


def fit_exp2(degree: int, bits: int) -> Fit:
    """2^r = 1 + r P(r), |r| <= 1/2."""
    return Fit(lambda r: mp.expm1(r * LN2) / r, lambda r: r / mp.exp(r * LN2), -0.5, 0.5, degree, bits)


def fit_exp2_rest(degree: int, bits: int) -> Fit:
    """2^r = 1 + r ln 2 + r^2 P(r), |r| <= 1/2."""
    return Fit(
        lambda r: (mp.expm1(r * LN2) - r * LN2) / r**2, lambda r: r**2 / mp.exp(r * LN2), -0.5, 0.5, degree, bits
    )


def fit_log1p(degree: int, bits: int) -> Fit:
    """log(1 + f) = f - f^2/2 + f^3 P(f), sqrt(1/2) <= 1 + f <= sqrt(2)."""
    return Fit(
        lambda f: (mp.log1p(f) - f + f**2 / 2) / f**3,
        lambda f: f**3 / mp.log1p(f),
        float(1 / SQRT - 1),
        float(SQRT - 1),
        degree,
        bits,
    )


def fit_atanh_series(degree: int, bits: int) -> Fit:
    """2 atanh(s) = 2 s + s^3 P(s^2), |s| <= (sqrt(2)-1)/(sqrt(2)+1)."""
    high = float((SQRT - 1) / (SQRT + 1))
    return Fit(
        lambda s: (2 * mp.atanh(s) - 2 * s) / s**3,
        lambda s: s**3 / (2 * mp.atanh(s)),
        1e-4,
        high,
        degree,
        bits,
        square,
    )


def fit_sin(degree: int, bits: int) -> Fit:
    """sin(r) = r + r^3 P(r^2), |r| <= pi/4 (and a little)."""
    return Fit(lambda r: (mp.sin(r) - r) / r**3, lambda r: r**3 / mp.sin(r), 1e-4, 0.79, degree, bits, square)


def fit_cos(degree: int, bits: int) -> Fit:
    """cos(r) = 1 - r^2/2 + r^4 P(r^2), |r| <= pi/4 (and a little)."""
    return Fit(
        lambda r: (mp.cos(r) - 1 + r**2 / 2) / r**4, lambda r: r**4 / mp.cos(r), 1e-4, 0.79, degree, bits, square
    )


def fit_erf_small(degree: int, bits: int, high: float) -> Fit:
    """erf(x) = x + x P(x^2), |x| <= high."""
    return Fit(lambda x: mp.erf(x) / x - 1, lambda x: x / mp.erf(x), 1e-4, high, degree, bits, square)


def fit_erf_large(degree: int, bits: int, low: float, high: float, centre: float) -> Fit:
    """erf(x) = 1 - exp(P(x - centre)), low <= x <= high."""
    return Fit(
        lambda x: mp.log(mp.erfc(x)),
        lambda x: mp.erfc(x) / mp.erf(x),
        low,
        high,
        degree,
        bits,
        lambda x: x - centre,
    )


def fit_tanh(degree: int, bits: int) -> Fit:
    """tanh(x) = x + x^3 P(x^2), |x| <= 5/8."""
    return Fit(lambda x: (mp.tanh(x) - x) / x**3, lambda x: x**3 / mp.tanh(x), 1e-4, 0.625, degree, bits, square)


def fit_atan(degree: int, bits: int) -> Fit:
    """atan(t) = t + t^3 P(t^2), |t| <= 1."""
    return Fit(lambda t: (mp.atan(t) - t) / t**3, lambda t: t**3 / mp.atan(t), 1e-4, 1.0, degree, bits, square)


def fit_asin(degree: int, bits: int) -> Fit:
    """asin(x) = x + x^3 P(x^2), |x| <= 1/2."""
    return Fit(lambda x: (mp.asin(x) - x) / x**3, lambda x: x**3 / mp.asin(x), 1e-4, 0.5, degree, bits, square)


def fit_inverse_cube_root(degree: int, bits: int) -> Fit:
    """m^(-1/3) = P(m - 1), sqrt(1/2) <= m <= sqrt(2): where Newton's iteration starts."""
    return Fit(
        lambda m: mp.power(m, -mp.mpf(1) / 3),
        lambda m: mp.power(m, mp.mpf(1) / 3),
        float(1 / SQRT),
        float(SQRT),
        degree,
        bits,
        lambda m: m - 1,
    )


def fit_log_pair(degree: int) -> Fit:
    """atanh(s) / s = 1 + z/3 + z^2 P(z), z = s^2: relative error of a logarithm that carries 65 bits."""
    high = float((SQRT - 1) / (SQRT + 1))
    return Fit(
        lambda s: (mp.atanh(s) / s - 1 - s**2 / 3) / s**4,
        lambda s: s**5 / mp.atanh(s),
        1e-3,
        high,
        degree,
        53,
        square,
    )


def fit_erfc(degree: int, bits: int, high: float, pole: float) -> Fit:
    """erfc(x) = exp(-x^2) P(t) / (1 + 2x), t = (x - pole) / (x + pole), 0 <= x <= high."""
    return Fit(
        lambda x: mp.erfc(x) * mp.exp(x * x) * (1 + 2 * x),
        lambda x: 1 / (mp.erfc(x) * mp.exp(x * x) * (1 + 2 * x)),
        0.0,
        high,
        degree,
        bits,
        lambda x: (x - pole) / (x + pole),
    )


def inverse_erf_ratio(w: mp.mpf) -> mp.mpf:
    """erfinv(x) / x at x = sqrt(1 - exp(-w)), by Newton's iteration on erfc from a rough start."""
    x = mp.sqrt(-mp.expm1(-w))
    rest = mp.exp(-w) / (1 + x)  # 1 - x
    y = mp.mpf(math.sqrt(math.pi) / 2 * float(x)) if w < 1 else mp.sqrt(w - mp.log(w * mp.pi) / 2 + mp.log(2))
    for _ in range(9):
        slope = 2 / mp.sqrt(mp.pi) * mp.exp(-y * y)
        step = (mp.erfc(y) - rest) / slope
        y += step / (1 + y * step)
    return y / x


def fit_erfinv(degree: int, low: float, high: float, centre: float) -> Fit:
    """erfinv(x) = x P(w - centre), w = -log(1 - x^2) in [low, high]."""
    return Fit(
        inverse_erf_ratio, lambda w: 1 / inverse_erf_ratio(w), low, high, degree, 53, lambda w: w - centre, points=400
    )


def fit_erfinv_tail(degree: int, low: float, high: float, centre: float) -> Fit:
    """erfinv(x) = x P(s - centre), s = sqrt(-log(1 - x^2)) in [low, high]."""
    return Fit(
        lambda s: inverse_erf_ratio(s * s),
        lambda s: 1 / inverse_erf_ratio(s * s),
        low,
        high,
        degree,
        53,
        lambda s: s - centre,
        points=400,
    )


def fit_lgamma(degree: int) -> Fit:
    """lgamma(1 + d) = d (d - 1) P(d - 1/2), 0 <= d <= 1."""
    return Fit(
        lambda d: mp.loggamma(1 + d) / (d * (d - 1)),
        lambda d: d * (d - 1) / mp.loggamma(1 + d),
        0.0,
        1.0,
        degree,
        53,
        lambda d: d - mp.mpf("0.5"),
        points=400,
    )


def fit_stirling(degree: int, weight: float) -> Fit:
    """lgamma(z) = (z - 1/2) log z - z + log(2 pi) / 2 + P(1/z^2) / z, z >= 8 (as a function of 1/z)."""
    return Fit(
        lambda x: (mp.loggamma(1 / x) - (1 / x - 0.5) * mp.log(1 / x) + 1 / x - mp.log(2 * mp.pi) / 2) / x,
        lambda x: x * weight,
        1e-3,
        0.125,
        degree,
        53,
        square,
        points=400,
    )


FITS: dict[str, Callable[[], Fit]] = {
    "exp_f32": lambda: fit_exp(4, 24),
    "exp_f64": lambda: fit_exp(9, 53),
    "exp2_f32": lambda: fit_exp2(5, 24),
    "exp2_f64": lambda: fit_exp2_rest(9, 53),
    "log_f32": lambda: fit_log1p(8, 24),
    "log_f64": lambda: fit_atanh_series(6, 53),
    "sin_f32": lambda: fit_sin(2, 24),
    "sin_f64": lambda: fit_sin(5, 53),
    "cos_f32": lambda: fit_cos(2, 24),
    "cos_f64": lambda: fit_cos(5, 53),
    "exp_wide": lambda: fit_exp(5, 53),
    "exp2_wide": lambda: fit_exp2(6, 53),
    "log_wide": lambda: fit_log1p(10, 53),
    "sin_wide": lambda: fit_sin(3, 53),
    "cos_wide": lambda: fit_cos(2, 53),
    "tanh_f32": lambda: fit_tanh(4, 24),
    "tanh_f64": lambda: fit_tanh(10, 53),
    "atan_f32": lambda: fit_atan(8, 24),
    "atan_f64": lambda: fit_atan(19, 53),
    "asin_f32": lambda: fit_asin(4, 24),
    "asin_f64": lambda: fit_asin(11, 53),
    "cbrt": lambda: fit_inverse_cube_root(4, 53),
    "pow_f64": lambda: fit_log_pair(7),
    "erfc_wide": lambda: fit_erfc(11, 53, 10.3, 4.0),
    "erfc_f64": lambda: fit_erfc(22, 53, 27.5, 4.0),
    "erfinv": lambda: fit_erfinv(11, 0.0, 5.0, 2.5),
    "erfinv_tail": lambda: fit_erfinv_tail(13, math.sqrt(5), 6.05, 3.25),
    "lgamma_wide": lambda: fit_lgamma(11),
    "lgamma_f64": lambda: fit_lgamma(21),
    "stirling_f64": lambda: fit_stirling(7, 1.0),
    "stirling_wide": lambda: fit_stirling(3, 1.0),
    "erf_small_f32": lambda: fit_erf_small(5, 24, 0.925),
    "erf_large_f32": lambda: fit_erf_large(8, 24, 0.92, 3.95, 0.925),
    "erf_small_f64": lambda: fit_erf_small(11, 53, 1.0),
    "erf_large_f64": lambda: fit_erf_large(22, 53, 1.0, 5.95, 1.0),
}


# Where the coefficients stand: file, name of the table, key of the format (None: the table is the tuple).
PLACES: dict[str, tuple[str, str, str | None]] = {
    **{f"exp_{f}": ("exponential", "EXP", f) for f in ("f32", "f64", "wide")},
    **{f"exp2_{f}": ("exponential", "EXP2", f) for f in ("f32", "f64", "wide")},
    **{f"log_{f}": ("logarithm", "LOG", f) for f in ("f32", "f64", "wide")},
    **{f"sin_{f}": ("trigonometric", "SIN", f) for f in ("f32", "f64", "wide")},
    **{f"cos_{f}": ("trigonometric", "COS", f) for f in ("f32", "f64", "wide")},
    **{f"tanh_{f}": ("hyperbolic", "TANH", f) for f in ("f32", "f64")},
    **{f"atan_{f}": ("inverse_trigonometric", "ATAN", f) for f in ("f32", "f64")},
    **{f"asin_{f}": ("inverse_trigonometric", "ASIN", f) for f in ("f32", "f64")},
    **{f"erf_small_{f}": ("errorfunction", "ERF_SMALL", f) for f in ("f32", "f64")},
    **{f"erf_large_{f}": ("errorfunction", "ERF_LARGE", f) for f in ("f32", "f64")},
    **{f"erfc_{f}": ("errorfunction", "ERFC", f) for f in ("wide", "f64")},
    **{f"lgamma_{f}": ("gamma", "LGAMMA", f) for f in ("wide", "f64")},
    **{f"stirling_{f}": ("gamma", "STIRLING", f) for f in ("wide", "f64")},
    "cbrt": ("power", "CBRT", None),
    "pow_f64": ("power", "LOG_PAIR", None),
    "erfinv": ("errorfunction", "ERFINV", None),
    "erfinv_tail": ("errorfunction", "ERFINV_TAIL", None),
}


def as_text(coefficients: list[mp.mpf], bits: int) -> str:
    """The tuple as it is written in the source: enough digits to read the same floats back."""
    return "(" + ", ".join(f"{float(c):.{9 if bits == 24 else 17}g}" for c in coefficients) + ")"


def coefficients_in_source(name: str) -> tuple[Path, str, ast.expr]:
    """The file, its text and the tuple's place in it."""
    file, table, key = PLACES[name]
    path = SOURCES / f"{file}.py"
    text = path.read_text()
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == table:
            if not isinstance(node.value, ast.Dict):
                return path, text, node.value
            keys = [k.value for k in node.value.keys if isinstance(k, ast.Constant)]
            return path, text, node.value.values[keys.index(key)]
    raise LookupError(f"no {table} in {path}")


def update(name: str, tuple_text: str) -> None:
    """Write the tuple into the source (run the formatter afterwards)."""
    path, text, node = coefficients_in_source(name)
    old = ast.get_source_segment(text, node)
    lines = text.splitlines(keepends=True)
    start = sum(len(line) for line in lines[: node.lineno - 1]) + node.col_offset
    if text[start : start + len(old)] != old:
        raise ValueError(f"{path}: only ASCII before {name}, please")
    path.write_text(text[:start] + tuple_text + text[start + len(old) :])


def main(arguments: list[str]) -> None:
    names = [a for a in arguments if not a.startswith("-")]
    for name in names or FITS:
        fit = FITS[name]()
        coefficients, error = fit_rounded(fit)
        print(f"# {name}: error {float(error):.2e} = 2^{float(mp.log(error, 2)):.1f}")
        print(as_text(coefficients, fit.bits), flush=True)
        if "--update" in arguments:
            update(name, as_text(coefficients, fit.bits))


if __name__ == "__main__":
    main(sys.argv[1:])
