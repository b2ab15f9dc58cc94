"""Steps of random kernels: types, casts and elementwise operations."""

from __future__ import annotations

import math
from dataclasses import replace

from .elements import FLOATS, INTEGERS, TYPES, Element, computed_in
from .writer import Refused, Value, Writer, feature

__all__ = ["bounded", "float_result", "to_float", "to_type"]

F32, F64, I32, I64, U32, U64, I1 = (TYPES[n] for n in ("f32", "f64", "i32", "i64", "u32", "u64", "i1"))
WIDE = ("f32", "f64")


def float_result(w: Writer, e: Element, most: float, grid: int | None, error: float, multiplied: bool = False) -> dict:
    """What is known of a rounded result of at most `most`, an exact multiple of 2^-grid where that is given.

    A product that rounds is not the same everywhere if it may be fused with a sum.
    """
    if grid is not None and error == 0 and w.fits(e, most, grid):
        return {"most": most, "grid": grid}
    lost = w.rounding(e, most)
    error += lost if error or (multiplied and w.fused) else 0.0
    return {"most": most + lost, "grid": None, "error": error}


def bounded(w: Writer, v: Value, most: float = 8.0) -> Value:
    """A float clamped to +-most (what it is if it is that already)."""
    if v.element.kind != "f" or v.special or v.element.bits == 8:
        raise Refused
    if v.most <= most:
        return v
    clamped = w.chance(0.5)  # two numbers are fp32, and fp16 with them, too
    e = F32 if v.element.name == "bf16" or (clamped and v.element.bits < 32) else v.element
    text = f"tl.clamp({v.name}, {-most}, {most})" if clamped else f"tl.minimum(tl.maximum({v.name}, {-most}), {most})"
    return w.put(text, e, v.shape, most=most, grid=v.grid, error=v.error)


def small_integer(w: Writer, v: Value) -> tuple[str, float]:
    """An integer expression in range for every type, and how large it is."""
    bits = w.choice((1, 3, 7, 15, 63))
    low = w.choice((0, 0, bits // 2)) if v.element.kind == "i" else 0
    return (f"(({v.name} & {bits}) - {low})" if low else f"({v.name} & {bits})"), float(bits)


# -- arithmetic --------------------------------------------------------------------------------------------------------


@feature("types", 3)
def integer_arithmetic(w: Writer) -> None:
    a = w.kind("iu")
    b, shape = w.compatible(a, lambda o: o.element.kind in "iub")
    e = computed_in(a.element, b.element)
    w.put(f"{a.name} {w.choice(list('+-*&|^'))} {b.name}", e, shape)


@feature("types", 2)
def integer_and_number(w: Writer) -> None:
    a = w.kind("iu")
    top = 2 ** (a.element.bits - (a.element.kind == "i")) - 1
    number = w.choice([0, 1, 2, 3, 5, 16, 100, 127, top, top // 2 + 1])
    number = -number - 1 if a.element.kind == "i" and w.chance(0.4) else number
    op = w.choice(list("+-*&|^"))
    text = f"{a.name} {op} {number}" if w.chance(0.7) else f"{number} {op} {a.name}"
    w.put(text, a.element, a.shape)


@feature("types", 2)
def division(w: Writer) -> None:
    """// and % of integers, by what is neither 0 nor (for signed ones) -1."""
    a = w.kind("iu")
    op = w.choice(("//", "%"))
    if w.chance(0.5):
        divisor = w.choice([1, 2, 3, 7, 8, 10, 64, 100])
        divisor = -divisor - 1 if a.element.kind == "i" and w.chance(0.3) else divisor
        w.put(f"{a.name} {op} {divisor}", a.element, a.shape)
        return
    b, shape = w.compatible(a, lambda o: o.element.kind == a.element.kind)
    e = computed_in(a.element, b.element, True)
    safe = w.put(f"({b.name} & {w.choice((7, 31, 127))}) + {w.choice((1, 2))}" if b.element.kind == "u" else
                 f"tl.where({b.name} > 0, {b.name}, {w.choice((1, 3, -7))})", b.element, b.shape)  # fmt: skip
    w.put(f"{a.name} {op} {safe.name}", e, shape)


@feature("types", 2)
def shift(w: Writer) -> None:
    a = w.kind("iu")
    op = w.choice(("<<", ">>"))
    if w.chance(0.5):
        w.put(f"{a.name} {op} {w.random.randrange(a.element.bits)}", a.element, a.shape)
        return
    b, shape = w.compatible(a, lambda o: o.element is a.element)
    w.put(f"{a.name} {op} ({b.name} & {a.element.bits - 1})", a.element, shape)


@feature("types", 3)
def float_arithmetic(w: Writer) -> None:
    a = w.kind("f")
    b, shape = w.compatible(a, lambda o: o.element.kind in "fiu" and (o.element.kind == "f" or o.name in w.small))
    e = computed_in(a.element, b.element)
    if e is None or e.bits == 8:
        raise Refused
    op = w.choice(list("+-*"))
    if a.special or b.special:
        no_error(w, a, b)
        if not w.fused:
            w.put(f"{a.name} {op} {b.name}", e, shape, special=True)
            return
        raise Refused
    a, b = as_float(w, a), as_float(w, b)
    w.put(f"{a.name} {op} {b.name}", e, shape, **combined(w, op, e, a, b))


def combined(w: Writer, op: str, e: Element, a: Value, b: Value) -> dict:
    """What is known of a + b, a - b, a * b."""
    known = None if None in (a.grid, b.grid) else (a.grid + b.grid if op == "*" else max(a.grid, b.grid))
    if op == "*":
        return float_result(w, e, a.most * b.most, known, a.error * b.most + b.error * a.most, True)
    facts = float_result(w, e, a.most + b.most, known, a.error + b.error)
    if facts["grid"] is None:  # a product with an accumulator of its own starts from what is added
        facts["error"] += (a.terms + b.terms) * w.rounding(e, a.most + b.most)
    return facts


def as_float(w: Writer, v: Value) -> Value:
    """What is known of a value as a float."""
    return v if v.element.kind == "f" else replace(v, most=w.small[v.name], grid=0)


def no_error(w: Writer, *values: Value) -> None:
    if not all(v.exact for v in values):
        raise Refused


@feature("types", 2)
def float_and_number(w: Writer) -> None:
    a = w.kind("f", lambda v: v.element.bits > 8)
    number = w.choice((0.5, 2.0, -1.5, 3, 0.25, -1, 4.0, 0.0))
    op = w.choice(list("+-*"))
    text = f"{a.name} {op} {number}" if w.chance(0.7) else f"{number} {op} {a.name}"
    if a.special:
        w.put(text, a.element, a.shape, special=True)
        return
    w.put(text, a.element, a.shape, **combined(w, op, a.element, a, Value("", a.element, (), abs(number), 2)))


@feature("types", 1)
def float_division(w: Writer) -> None:
    """By 1 + |b|: approximate divisions on GPUs are 2 units in the last place off (PTX ISA, div.full.f32)."""
    a = w.kind("f", lambda v: not v.special and v.element.bits > 8)
    b, shape = w.compatible(a, lambda o: o.element.kind == "f" and not o.special and o.element.bits > 8)
    e = computed_in(a.element, b.element, True)
    form = w.choice(("{} / ({})", "tl.fdiv({}, {})", "tl.div_rn({}, {})", "{} / {}"))
    if "fdiv" in form:
        e = computed_in(a.element, b.element)
    if "rn" in form and not a.element is b.element is F32:
        raise Refused
    divisor = w.put(f"tl.abs({b.name}) + 1.0", b.element, b.shape,
                    **float_result(w, b.element, b.most + 1, None if b.grid is None else max(b.grid, 0), b.error))  # fmt: skip
    error = a.error + b.error * a.most + 4 * w.rounding(e, a.most)
    w.put(form.format(a.name, divisor.name), e, shape, most=a.most * 1.01 + 0.01, grid=None, error=error)


@feature("types", 1)
def integer_true_division(w: Writer) -> None:
    """/ of integers is computed in fp32."""
    a = w.kind("iu")
    n = w.choice((1, 2, 4, 8))
    bits = w.choice((7, 63, 127))
    v = w.put(f"({a.name} & {bits}) / {n}", F32, a.shape, most=float(bits), grid=3)
    w.used[v.name] += 1


@feature("types", 1)
def float_remainder(w: Writer) -> None:
    """The remainder is exact, and a multiple of what both operands are multiples of."""
    a = w.kind("f", lambda v: v.lattice and v.element.name in WIDE)
    d = w.choice((0.5, 1.0, 1.5, 3.0, 8.0))
    w.put(f"{a.name} % {d}", a.element, a.shape, most=d, grid=max(a.grid, 1))


@feature("types", 1)
def fused_multiply(w: Writer) -> None:
    a = w.kind("f", lambda v: v.lattice and v.element.name in ("f16", "bf16", "f32", "f64"))
    b = w.like(a, lambda o: o.element is a.element and o.lattice)
    c = w.like(a, lambda o: o.element is a.element and o.lattice)
    w.put(f"tl.fma({a.name}, {b.name}, {c.name})", a.element, a.shape,
          **float_result(w, a.element, a.most * b.most + c.most, max(a.grid + b.grid, c.grid), 0.0))  # fmt: skip


@feature("types", 1)
def high_half(w: Writer) -> None:
    a = w.pick(lambda v: v.element in (I32, I64, U32, U64))
    b = w.like(a, lambda o: o.element is a.element)
    w.put(f"tl.umulhi({a.name}, {b.name})", a.element, a.shape)


# -- comparisons, choices ----------------------------------------------------------------------------------------------


@feature("types", 2)
def comparison(w: Writer) -> None:
    a = w.pick(lambda v: v.exact and v.element.kind != "b")
    op = w.choice(("<", "<=", ">", ">=", "==", "!="))
    if w.chance(0.3):
        w.put(f"{a.name} {op} {w.choice((0, 1, 2, 5, 100))}", I1, a.shape)
        return
    b, shape = w.compatible(a, lambda o: o.exact and computed_in(a.element, o.element) is not None)
    if "f" in (a.element.kind, b.element.kind) and a.element.kind != b.element.kind:
        raise Refused  # an integer of any size is rounded: tested by casts
    w.put(f"{a.name} {op} {b.name}", I1, shape)


@feature("types", 1)
def logic(w: Writer) -> None:
    a = w.kind("b")
    b, shape = w.compatible(a, lambda o: o.element.kind == "b")
    forms = ("{} & {}", "{} | {}", "{} ^ {}", "~{}", "{} and {}", "{} or {}", "not {}", "{} == {}")
    form = w.choice(forms if not shape else forms[:4])
    w.put(form.format(a.name, b.name), I1, a.shape if form.count("{}") == 1 else shape)


def known(w: Writer, *values: Value) -> dict:
    """What is known of a value that is one of these."""
    grids = [v.grid for v in values]
    return {
        "most": max(v.most for v in values),
        "grid": None if None in grids else max(grids),
        "error": max(v.error for v in values),
        "special": any(v.special for v in values),
    }


@feature("types", 2)
def where(w: Writer) -> None:
    c = w.kind("b")
    a, shape = w.compatible(c, lambda o: True)
    b = w.pick(lambda o: o.shape == a.shape and computed_in(a.element, o.element) is not None)
    if a.element.kind == "f" and w.chance(0.2):
        w.put(f"tl.where({c.name}, {a.name}, {w.choice((0.0, 1.0, -2.0))})", a.element, shape,
              **known(w, a, Value("", a.element, (), 2.0, 0)))  # fmt: skip
        return
    if (a.element.kind == "f") != (b.element.kind == "f"):
        raise Refused
    facts = known(w, a, b) if a.element.kind == "f" else {}
    w.put(f"tl.where({c.name}, {a.name}, {b.name})", computed_in(a.element, b.element), shape, **facts)


@feature("types", 2)
def extremum(w: Writer) -> None:
    """minimum, maximum; bf16 is computed in fp32. Of NaN and a number the number, unless NaN propagates."""
    a = w.kind("iuf")
    b, shape = w.compatible(a, lambda o: o.element.kind in "iuf" and (o.element.kind == "f") == (a.element.kind == "f"))
    sides = [F32 if v.element.name == "bf16" else v.element for v in (a, b)]
    e = computed_in(*sides)
    if e.bits == 8 and e.kind == "f":
        raise Refused
    nan = ", propagate_nan=tl.PropagateNan.ALL" if e.kind == "f" and w.chance(0.3) else ""
    facts = known(w, a, b) if e.kind == "f" else {}
    w.put(f"tl.{w.choice(('minimum', 'maximum'))}({a.name}, {b.name}{nan})", e, shape, **facts)


@feature("types", 1)
def clamp(w: Writer) -> None:
    a = w.kind("f", lambda v: v.element.bits > 8 and not v.special)
    most = w.choice((1.0, 2.0, 8.0))
    e = F32 if a.element.bits < 32 else a.element  # two numbers are fp32
    grid = None if a.grid is None else max(a.grid, 0)
    nan = ", propagate_nan=tl.PropagateNan.ALL" if w.chance(0.3) else ""
    w.put(f"tl.clamp({a.name}, {-most}, {most}{nan})", e, a.shape, most=most, grid=grid, error=a.error)


# -- one operand -------------------------------------------------------------------------------------------------------


@feature("types", 1.5)
def unary(w: Writer) -> None:
    a = w.kind("iufb")
    forms = {"i": ("-{}", "~{}", "tl.abs({})", "+{}"), "u": ("-{}", "~{}"), "b": ("~{}",), "f": ("-{}", "tl.abs({})")}
    form = w.choice(forms[a.element.kind])
    facts = known(w, a) if a.element.kind == "f" else {}
    w.put(form.format(a.name), a.element, a.shape, **facts)


@feature("types", 1)
def rounded(w: Writer) -> None:
    """floor, ceil: exact, so not of values that differ."""
    a = w.kind("f", lambda v: v.exact and v.element.name in WIDE and not v.special)
    w.put(f"tl.{w.choice(('floor', 'ceil'))}({a.name})", a.element, a.shape, most=a.most + 1, grid=0)


MATH = {  # name: (largest argument, largest result, largest derivative, units in the last place by CUDA's and our tables)
    "exp": (4.0, 64.0, 64.0, 8),
    "exp2": (4.0, 16.0, 16.0, 8),
    "sin": (8.0, 1.0, 1.0, 8),
    "cos": (8.0, 1.0, 1.0, 8),
    "erf": (4.0, 1.0, 1.2, 8),
    "sigmoid": (4.0, 1.0, 0.25, 16),
}
OF_POSITIVE = {  # of 1 + |x|
    "log": (16.0, 3.0, 1.0, 8),
    "log2": (16.0, 4.2, 1.5, 8),
    "sqrt": (16.0, 4.2, 0.5, 4),
    "rsqrt": (16.0, 1.0, 0.5, 8),
    "sqrt_rn": (16.0, 4.2, 0.5, 2),
}


@feature("types", 2)
def mathematics(w: Writer) -> None:
    """The error of a function: that of its argument, and some units in the last place of its largest result."""
    a = w.kind("f", lambda v: v.element.name in WIDE and not v.special)
    name = w.choice(sorted(MATH | OF_POSITIVE))
    if name == "sqrt_rn" and a.element is not F32:
        raise Refused
    domain, most, slope, units = (MATH | OF_POSITIVE)[name]
    v = bounded(w, a, domain - 1 if name in OF_POSITIVE else domain)
    text = f"tl.abs({v.name}) + 1.0" if name in OF_POSITIVE else v.name
    # GPUs have sine and cosine to 2^-21 of the period, exponentials to 2 units of their argument times log2(e)
    error = slope * (v.error + w.rounding(v.element, domain)) + units * w.rounding(v.element, most)
    w.put(f"tl.{name}({text})", v.element, v.shape, most=most * 1.01, grid=None, error=error)


# -- casts -------------------------------------------------------------------------------------------------------------


def to_float(w: Writer, v: Value, e: Element) -> dict:
    """What is known of a float cast to `e`; Refused where it may overflow or is not defined."""
    if v.special:
        return {"special": True}
    if v.most > e.most or (e.bits == 8 and not v.exact):
        raise Refused
    narrow = e.precision < v.element.precision or e.exponent < v.element.exponent
    if not narrow:
        return known(w, v)
    facts = float_result(w, e, v.most, v.grid, v.error)
    facts["error"] = v.error + 2 * w.rounding(e, v.most) if v.error else 0.0
    return facts


def to_type(w: Writer, v: Value, e: Element) -> Value:
    """A float value as another float type."""
    return v if v.element is e else w.put(f"{v.name}.to({e.tl})", e, v.shape, **to_float(w, v, e))


@feature("types", 4)
def cast_float(w: Writer) -> None:
    a = w.kind("f")
    e = w.choice([e for e in FLOATS if e is not a.element])
    facts = to_float(w, a, e)
    rounding = ""
    if e.bits < a.element.bits and w.chance(0.3) and not a.special:
        rounding = f', fp_downcast_rounding="{w.choice(("rtne", "rtz"))}"'
        facts["error"] *= 2
    if e.bits < a.element.bits and a.special and e.bits == 16 and w.chance(0.0):
        raise Refused
    w.put(
        f"tl.cast({a.name}, {e.tl}{rounding})" if rounding or w.chance(0.3) else f"{a.name}.to({e.tl})",
        e,
        a.shape,
        **facts,
    )


@feature("types", 3)
def cast_integer(w: Writer) -> None:
    a = w.kind("iub")
    e = w.choice([*INTEGERS, I1])
    w.put(f"{a.name}.to({e.tl})", e, a.shape)


@feature("types", 2)
def small_integer_to_float(w: Writer) -> None:
    a = w.kind("iu")
    e = w.choice(FLOATS)
    text, most = small_integer(w, a)
    if not w.fits(e, most, 0) and w.chance(0.7):
        raise Refused
    w.put(f"{text}.to({e.tl})", e, a.shape, most=most, grid=0 if w.fits(e, most, 0) else None)


@feature("types", 2)
def large_integer_to_float(w: Writer) -> None:
    """Integers of any size are rounded once, to nearest even; to 8 bits they become the largest number at most."""
    a = w.kind("iub")
    e = w.choice([TYPES[name] for name in ("f32", "f64", "bf16", "f16", "e5", "e4")])
    most = min(2.0**a.element.bits, {"e5": 57344.0, "e4": 448.0}.get(e.name, 2.0**64))
    if most > e.most and e.name == "f16":
        raise Refused
    v = Value("", e, a.shape, most=most, grid=None)
    w.features["integers rounded to floats"] += 1
    w.line(f"{(name := w.fresh())} = {a.name}.to({e.tl})")
    w.values.append(replace(v, name=name))


@feature("types", 3)
def float_to_integer(w: Writer) -> None:
    """Towards zero; what does not fit has no meaning, so that the value is clamped before."""
    a = w.kind("f", lambda v: v.exact and not v.special)
    e = w.choice(INTEGERS)
    low = 0.0 if e.kind == "u" else -100.0
    if a.element.bits > 8:
        a = w.put(f"tl.minimum(tl.maximum({a.name}, {low}), 100.0)", F32 if a.element.name == "bf16" else a.element, a.shape,
                  most=100.0, grid=a.grid)  # fmt: skip
    elif a.most > 127 or low == 0.0:
        raise Refused
    v = w.put(f"{a.name}.to({e.tl})", e, a.shape)
    w.small[v.name] = 128.0


@feature("types", 1)
def truth(w: Writer) -> None:
    a = w.kind("iuf", lambda v: v.exact)
    w.put(f"{a.name}.to(tl.int1)", I1, a.shape)


@feature("types", 1.5)
def bitcast(w: Writer) -> None:
    """Bits of an integer as another type, and of a float that came from memory (zeros have one sign there)."""
    a = w.kind("iu")
    same = [e for e in TYPES.values() if e.bits == a.element.bits and e.kind in "iu"]
    e = w.choice(same)
    form = w.choice(("{}.to({}, bitcast=True)", "tl.cast({}, {}, bitcast=True)"))
    w.put(form.format(a.name, e.tl), e, a.shape)


@feature("types", 1)
def float_bits(w: Writer) -> None:
    a = w.kind("f", lambda v: v.name in w.loaded and not v.special)
    e = TYPES[w.choice("iu") + str(a.element.bits)]
    v = w.put(f"{a.name}.to({e.tl}, bitcast=True)", e, a.shape)
    back = f"{v.name}.to({a.element.tl}, bitcast=True)"
    w.put(back, a.element, a.shape, **known(w, a))


@feature("types", 1)
def constant(w: Writer) -> None:
    v = w.pick()
    e = w.choice(list(TYPES.values()))
    if e.kind == "f":
        number = w.choice((0.0, 1.0, -0.5, 1.5, 2.0))
        w.put(f"tl.full({list(v.shape)}, {number}, {e.tl})", e, v.shape, most=2.0, grid=1)
        return
    number = w.choice((0, 1)) if e.kind == "b" else w.choice((0, 1, 2, 100, *((-1, -100) if e.kind == "i" else ())))
    text = f"tl.full({list(v.shape)}, {number}, {e.tl})" if w.chance(0.7) else f"tl.zeros({list(v.shape)}, {e.tl})"
    w.put(text, e, v.shape)


def log2_up(x: float) -> int:
    """The least k with x <= 2^k."""
    return max(0, math.ceil(math.log2(max(x, 1.0))))
