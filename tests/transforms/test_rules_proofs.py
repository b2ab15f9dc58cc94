"""Every arithmetic rule is an equation; here each is proved.

Expressions are made by a generator, all combinations up to a depth, and shown to each rule that may match their root.
What a rule answers is compared with what it was given: for all inputs at small widths, and with z3 at 16 bits. A rule
that no expression here reaches fails its test: add what it needs to `expressions`.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import z3

from tests.transforms import proofs
from tritium.dialects import arith
from tritium.dialects import math as mathd
from tritium.ir import CHANGED, Block, IntegerType, Operation, Rule, Type, f16, f32, f64, i1, i16, i32, index
from tritium.transforms.rules import ARITH_RULES, CAST_RULES, COMPARE_RULES, FLOAT_RULES, INTEGER_RULES

Leaf = Callable[[], Any]
Build = Callable[[], Any]

F = arith.CmpFPredicate
SMALL = IntegerType(3)
BINARY = [
    arith.AddI, arith.SubI, arith.MulI, arith.DivSI, arith.DivUI, arith.CeilDivSI, arith.CeilDivUI, arith.FloorDivSI,
    arith.RemSI, arith.RemUI, arith.AndI, arith.OrI, arith.XOrI, arith.ShLI, arith.ShRSI, arith.ShRUI, arith.MaxSI,
    arith.MaxUI, arith.MinSI, arith.MinUI,
]  # fmt: skip
EXTENDED = [arith.AddUIExtended, arith.MulSIExtended, arith.MulUIExtended]
FLOAT_BINARY = [
    arith.AddF, arith.SubF, arith.MulF, arith.DivF, arith.RemF, arith.MaximumF, arith.MinimumF, arith.MaxNumF,
    arith.MinNumF,
]  # fmt: skip
FLOAT_UNARY = [mathd.AbsF, mathd.Ceil, mathd.Floor, mathd.Trunc, mathd.Round, mathd.RoundEven, mathd.Sqrt]
BIT_FUNCTIONS = [mathd.AbsI, mathd.Ctpop, mathd.Ctlz, mathd.Cttz]


def constant(value: float, ty: Type) -> Leaf:
    return lambda: arith.Constant.of(value, ty).result


def apply(cls: Any, *operands: Build, **kwargs: Any) -> Build:
    """A function that makes a new operation of new operands."""
    return lambda: cls(*[o() for o in operands], **kwargs).results[0]


class Inputs:
    """Variables of each type, and their values: all of them for small integers, many of them for floats."""

    def __init__(self) -> None:
        self.block = Block()
        self.variables: dict[Type, list[Any]] = {}
        self.values: dict[Any, Any] = {}

    def leaf(self, ty: Type, number: int) -> Leaf:
        known = self.variables.setdefault(ty, [])
        while len(known) <= number:
            known.append(self.block.add_argument(ty))
        return lambda: known[number]

    def environment(self) -> dict[Any, Any]:
        """All combinations of values of the variables, on axes of their own (small integers) or shared (floats)."""
        axes = [v for vs in self.variables.values() for v in vs]
        env = {}
        for k, v in enumerate(axes):
            shape = [1] * len(axes)
            numbers = domain(v.type)
            shape[k] = len(numbers)
            env[v] = numbers.reshape(shape)
        return env


def domain(ty: Type) -> Any:
    """Every value of a small integer type; for the others the numbers at which something changes, and some between."""
    if ty is f16 or ty is f32:
        bits = np.arange(65536, dtype=np.uint16).view(np.float16)[::321]  # of both signs and every magnitude
        special = [0.0, -0.0, 1, -1, 2, 0.5, np.inf, -np.inf, np.nan, 6e-8, -6e-8, 6.1e-5, 65504, -65504, 2048, 2049]
        numbers = np.concatenate([np.array(special, np.float16), bits])
        return numbers if ty is f16 else numbers.astype(np.float32)
    width = ty.width  # type: ignore[attr-defined]
    if width <= 5:
        return proofs.wrap(np.arange(1 << width), width)
    edge = 1 << (width - 1) if width < 64 else 1 << 61
    return np.array([0, 1, -1, 2, 7, -edge, edge - 1, 255, 256, -129, 12345], np.int64)


def same(a: Any, b: Any) -> bool:
    """Equal for all inputs; NaN equals NaN, 0.0 does not equal -0.0."""
    a, b = np.broadcast_arrays(a, b)
    equal = a == b
    if a.dtype.kind == "f":
        equal = (equal & (np.signbit(a) == np.signbit(b))) | (np.isnan(a) & np.isnan(b))
    return bool(np.all(equal))


def prove(rule: Rule, build: Build, inputs: Inputs) -> bool:
    """Whether `rule` matches what `build` makes; what it answers must mean the same."""
    op = build().defining_op
    out = rule(op)
    if out is None:
        return False
    original = build().defining_op
    answers = op.results if out is CHANGED else out if isinstance(out, list) else [out]
    for answer, result in zip(answers, original.results, strict=True):
        before = proofs.evaluate(result, inputs.environment(), result)
        after = proofs.evaluate(answer, inputs.environment(), result)
        assert same(before, after), f"{rule.name} ({rule.equation}) on {describe(original)} gave {describe(answer)}"
    return True


def describe(value: Any) -> str:
    op = value if isinstance(value, Operation) else getattr(value, "defining_op", None)
    if op is None:
        return str(value)
    if isinstance(op, arith.Constant):
        return str(op.value)
    return f"{op.name}{dict(op.attributes) or ''}({', '.join(describe(v) for v in op.operands)}) : {op.results[0].type}"


# -- expressions --------------------------------------------------------------------------------------------------


def integer_leaves(inputs: Inputs, ty: Type) -> list[Leaf]:
    numbers = [0, 1] if ty is i1 else [0, 1, -1, 2, -(1 << (ty.width - 1)), (1 << (ty.width - 1)) - 1]  # type: ignore
    return [inputs.leaf(ty, 0), inputs.leaf(ty, 1), *(constant(n, ty) for n in numbers)]


def binary_expressions(inputs: Inputs, ty: Type) -> Iterator[Build]:
    leaves = integer_leaves(inputs, ty)
    for cls in [*BINARY, *EXTENDED]:
        for a, b in itertools.product(leaves, leaves):
            yield apply(cls, a, b)
    for outer, inner in itertools.product(BINARY, BINARY):
        mixed = {outer, inner} <= {arith.AddI, arith.SubI, arith.AndI, arith.OrI, arith.XOrI}
        if outer is not inner and not mixed and (outer, inner) != (arith.AddI, arith.MulI):
            continue
        for a, b, c in itertools.product(leaves[:6], leaves[:6], [*leaves[:2], *leaves[3:6]]):
            compound = apply(inner, a, b)
            yield apply(outer, compound, c)
            yield apply(outer, c, compound)
    if ty is not i1:
        yield from rounded_quotients(inputs, ty)


def rounded_quotients(inputs: Inputs, ty: Type) -> Iterator[Build]:
    """x / c1 + (x % c2 > c3), with all constants and in both orders."""
    x, *numbers = [inputs.leaf(ty, 0), *integer_leaves(inputs, ty)[2:]]
    for p, c1, c2, c3 in itertools.product(
        (arith.CmpIPredicate.sgt, arith.CmpIPredicate.ne), numbers, numbers, numbers
    ):
        above = lambda p=p, c2=c2, c3=c3: arith.CmpI(p, arith.RemSI(x(), c2()).result, c3()).result  # noqa: E731
        quotient, carry = apply(arith.DivSI, x, c1), apply(arith.ExtUI, above, out=ty)
        yield apply(arith.AddI, quotient, carry)
        yield apply(arith.AddI, carry, quotient)


def compare_expressions(inputs: Inputs, ty: Type) -> Iterator[Build]:
    leaves = integer_leaves(inputs, ty)
    for p in arith.CmpIPredicate:
        for a, b in itertools.product(leaves, leaves):
            yield lambda p=p, a=a, b=b: arith.CmpI(p, a(), b()).result
            yield lambda p=p, a=a, b=b: arith.XOrI(arith.CmpI(p, a(), b()).result, constant(1, i1)()).result
        for a, b, c in itertools.product(leaves, leaves, leaves[2:]):
            yield lambda p=p, a=a, b=b, c=c: arith.CmpI(p, arith.AddI(a(), b()).result, c()).result
        for cls, narrow in itertools.product((arith.ExtSI, arith.ExtUI), (i1, IntegerType(2))):
            x = inputs.leaf(narrow, 0)
            for c in leaves[2:]:
                if narrow.width < ty.width:  # type: ignore[attr-defined]
                    yield lambda p=p, cls=cls, x=x, c=c: arith.CmpI(p, cls(x(), out=ty).result, c()).result
            y = inputs.leaf(narrow, 1)
            if narrow.width < ty.width:  # type: ignore[attr-defined]
                yield lambda p=p, cls=cls, x=x, y=y: arith.CmpI(p, *(cls(v(), out=ty).result for v in (x, y))).result


def select_expressions(inputs: Inputs, ty: Type) -> Iterator[Build]:
    leaves = integer_leaves(inputs, ty)
    p = inputs.leaf(i1, 0)
    negated = apply(arith.XOrI, p, constant(1, i1))
    for c in (p, negated, constant(1, i1), constant(0, i1)):
        for a, b in itertools.product(leaves, leaves):
            yield apply(arith.Select, c, a, b)
    for a, b, c in itertools.product(leaves, leaves, leaves):
        yield apply(arith.Select, p, apply(arith.Select, p, a, b), c)
        yield apply(arith.Select, p, a, apply(arith.Select, p, b, c))


def cast_expressions(inputs: Inputs) -> Iterator[Build]:
    types = [i1, IntegerType(2), SMALL, IntegerType(5), i16]
    casts: list[tuple[Any, Type, Type]] = []
    for a, b in itertools.permutations(types, 2):
        wider = b.width > a.width
        casts += [(cls, a, b) for cls in ((arith.ExtSI, arith.ExtUI) if wider else (arith.TruncI,))]
    casts += [(cls, a, index) for cls in (arith.IndexCast, arith.IndexCastUI) for a in (SMALL, i16)]
    casts += [(cls, index, a) for cls in (arith.IndexCast, arith.IndexCastUI) for a in (SMALL, i16)]
    casts += [(cls, a, f32) for cls in (arith.SIToFP, arith.UIToFP) for a in (SMALL, i16, i32)]
    casts += [(cls, f16, a) for cls in (arith.FPToSI, arith.FPToUI) for a in (SMALL, i16, i32)]
    casts += [(arith.ExtF, f16, f32), (arith.TruncF, f32, f16), (arith.Bitcast, f16, i16), (arith.Bitcast, i16, f16)]
    casts += [(arith.ExtF, f32, f64)]
    casts += [(arith.Bitcast, f32, i32), (arith.Bitcast, i32, f32), (arith.Bitcast, i32, i32)]
    for cls, a, b in casts:
        numbers = [0.0, 1.5, -2.5, 100.0] if a in (f16, f32) else [0, 1, -1, 5, 30000]
        for x in [inputs.leaf(a, 0), *(constant(n, a) for n in numbers)]:
            inner = apply(cls, x, out=b)
            yield inner
            for again, c, d in casts:
                if c is b:
                    yield apply(again, inner, out=d)


def float_expressions(inputs: Inputs) -> Iterator[Build]:
    x, y = inputs.leaf(f16, 0), inputs.leaf(f16, 1)
    numbers = [0.0, -0.0, 1.0, -1.0, 2.0, 0.25, -8.0, 3.0, 65504.0, 2.0**-14, 6e-8, np.inf, -np.inf, np.nan]
    leaves = [x, y, *(constant(n, f16) for n in numbers)]
    negated = [apply(arith.NegF, leaf) for leaf in leaves[:2]]
    for leaf in [*leaves, *negated]:
        yield apply(arith.NegF, leaf)
        for cls in FLOAT_UNARY:
            yield apply(cls, leaf)
            yield apply(cls, apply(cls, leaf))
    for cls in [*FLOAT_BINARY, mathd.CopySign]:
        for a, b in itertools.product([*leaves, *negated], [*leaves, *negated]):
            yield apply(cls, a, b)
    for a, b, c in itertools.product(leaves, repeat=3):
        yield apply(mathd.Fma, a, b, c)
    for p in arith.CmpFPredicate:
        for a, b in itertools.product(leaves[:9], leaves):
            compared = lambda p=p, a=a, b=b: arith.CmpF(p, a(), b()).result  # noqa: E731
            yield compared
            yield apply(arith.XOrI, compared, constant(1, i1))


def bit_expressions(inputs: Inputs) -> Iterator[Build]:
    x = inputs.leaf(SMALL, 0)
    for cls in BIT_FUNCTIONS:
        for leaf in [x, *(constant(n, SMALL) for n in range(-4, 4))]:
            yield apply(cls, leaf)
            yield apply(cls, apply(cls, leaf))


FAMILIES: dict[str, tuple[Callable[[Inputs], Iterator[Build]], list[Rule]]] = {
    "binary i3": (lambda inputs: binary_expressions(inputs, SMALL), INTEGER_RULES),
    "binary i1": (lambda inputs: binary_expressions(inputs, i1), []),
    "compare i3": (lambda inputs: compare_expressions(inputs, SMALL), COMPARE_RULES[:3]),
    "compare i1": (lambda inputs: compare_expressions(inputs, i1), []),
    "select i3": (lambda inputs: select_expressions(inputs, SMALL), COMPARE_RULES[-4:]),
    "select i1": (lambda inputs: select_expressions(inputs, i1), []),
    "casts": (cast_expressions, CAST_RULES),
    "floats": (float_expressions, FLOAT_RULES),
    "bits": (bit_expressions, []),
}
"""Expressions, and the rules that they must reach."""


@functools.cache
def reached_by(family: str) -> frozenset[str]:
    """Prove all that matches in a family; the names of the rules that did."""
    found: set[str] = set()
    inputs = Inputs()
    for build in FAMILIES[family][0](inputs):
        cls = build().defining_op.__class__
        for rule in ARITH_RULES:
            if rule.applies_to(cls) and prove(rule, build, inputs):
                found.add(rule.name)
    return frozenset(found)


@pytest.mark.parametrize("family", FAMILIES)
def test_rules_are_proved(family):
    missing = {r.name for r in FAMILIES[family][1]} - reached_by(family)
    if family == "select i3":
        missing -= reached_by("select i1")
    assert not missing, f"no expression reaches {missing}"


def test_every_rule_is_reached():
    reached = set().union(*(reached_by(family) for family in FAMILIES))
    assert not {r.name for r in ARITH_RULES} - reached
    assert all(r.equation for r in ARITH_RULES), "a rule's docstring is its equation"


def _constant_of(op: Any, value: float) -> Any:
    return arith.Constant.of(value, op.results[0].type).result


def _converted(op: Any) -> Any:
    inner = op.in_.defining_op
    return arith.FPToSI(inner.in_, out=op.out.type) if isinstance(inner, arith.FPToSI) else None


X, Y = (lambda inputs, ty: inputs.leaf(ty, 0)), (lambda inputs, ty: inputs.leaf(ty, 1))
C = lambda number: lambda inputs, ty: constant(number, ty)  # noqa: E731
PLANTED: dict[str, tuple[Any, Type, tuple[Any, ...], Callable[[Any], Any]]] = {
    "x - y = y - x": (arith.SubI, SMALL, (X, Y), lambda op: arith.SubI(op.rhs, op.lhs)),
    "x / x = 1, for 0": (arith.DivSI, SMALL, (X, X), lambda op: _constant_of(op, 1)),
    "unsigned x / x = 1, for 0": (arith.DivUI, SMALL, (X, X), lambda op: _constant_of(op, 1)),
    "x / 0 = 0": (arith.DivSI, SMALL, (X, C(0)), lambda op: op.rhs),
    "x % 0 = x": (arith.RemUI, SMALL, (X, C(0)), lambda op: op.lhs),
    "x rounded down / 0 = -1": (arith.FloorDivSI, SMALL, (X, C(0)), lambda op: _constant_of(op, -1)),
    "x / -1 = max(-x, ...), for the least": (
        arith.DivSI, SMALL, (X, C(-1)),
        lambda op: arith.MaxSI(arith.SubI(_constant_of(op, 0), op.lhs).result, _constant_of(op, -3)),
    ),
    "x << the width = x": (arith.ShLI, SMALL, (X, C(3)), lambda op: op.lhs),
    "x >> y = x >> (y mod 4)": (
        arith.ShRUI, SMALL, (X, Y), lambda op: arith.ShRUI(op.lhs, arith.AndI(op.rhs, _constant_of(op, 1)).result)
    ),
    "arithmetic x >> the width = 0": (arith.ShRSI, SMALL, (X, C(3)), lambda op: _constant_of(op, 0)),
    "x + 0.0 = x, for -0.0": (arith.AddF, f16, (X, C(0.0)), lambda op: op.lhs),
    "0.0 - x = -x, for 0.0": (arith.SubF, f16, (C(0.0), X), lambda op: arith.NegF(op.rhs)),
    "x - x = 0.0, for infinity and NaN": (arith.SubF, f16, (X, X), lambda op: _constant_of(op, 0.0)),
    "x * 0.0 = 0.0, for negative numbers": (arith.MulF, f16, (X, C(0.0)), lambda op: op.rhs),
    "x / x = 1.0, for 0 and infinity": (arith.DivF, f16, (X, X), lambda op: _constant_of(op, 1.0)),
    "-(x - y) = y - x, for equal ones": (arith.SubF, f16, (X, Y), lambda op: arith.NegF(arith.SubF(op.rhs, op.lhs).result)),
    "maxnum(x, -inf) = x, for NaN": (arith.MaxNumF, f16, (X, C(-np.inf)), lambda op: op.lhs),
    "maximum(x, inf) = inf, for NaN": (arith.MaximumF, f16, (X, C(np.inf)), lambda op: op.rhs),
    "maxnum(x, y) = x > y ? x : y, for -0.0": (
        arith.MaxNumF, f16, (X, Y), lambda op: arith.Select(arith.CmpF(F.ogt, op.lhs, op.rhs).result, op.lhs, op.rhs)
    ),
    "minnum(x, 0.0) = x < 0.0 ? x : 0.0, for -0.0": (
        arith.MinNumF, f16, (X, C(0.0)),
        lambda op: arith.Select(arith.CmpF(F.olt, op.lhs, op.rhs).result, op.lhs, op.rhs),
    ),
    "fma(x, 0.0, y) = y, for infinity and -0.0": (mathd.Fma, f16, (X, C(0.0), Y), lambda op: op.c),
}  # fmt: skip
"""Rules that are wrong by docs/semantics.md alone: what the expression is, and what the rule makes of it."""


@pytest.mark.parametrize("name", PLANTED)
def test_rules_against_the_documented_semantics_are_refuted(name: str) -> None:
    cls, ty, operands, answer = PLANTED[name]
    inputs = Inputs()
    planted = Rule(answer, (cls,), 0)
    with pytest.raises(AssertionError, match="gave"):
        prove(planted, apply(cls, *(operand(inputs, ty) for operand in operands)), inputs)


def test_a_wrapping_conversion_is_refuted() -> None:
    """trunc(fptosi(x)) = fptosi(x), which saturates in the narrower type: of 300.0 one gives 44, the other 127."""
    inputs = Inputs()
    build = apply(arith.TruncI, apply(arith.FPToSI, inputs.leaf(f16, 0), out=i32), out=IntegerType(5))
    with pytest.raises(AssertionError, match="gave"):
        prove(Rule(_converted, (arith.TruncI,), 0), build, inputs)


@pytest.mark.parametrize(
    ("cls", "a", "b", "wanted"),
    [
        (arith.DivSI, -3, 0, -3), (arith.DivUI, 5, 0, 5), (arith.CeilDivSI, 3, 0, 3), (arith.FloorDivSI, -1, 0, -1),
        (arith.CeilDivUI, 7, 0, 7), (arith.RemSI, 3, 0, 0), (arith.RemUI, 5, 0, 0), (arith.DivSI, -4, -1, -4),
        (arith.FloorDivSI, -4, -1, -4), (arith.CeilDivSI, -4, -1, -4), (arith.RemSI, -4, -1, 0), (arith.ShLI, 3, 3, 0),
        (arith.ShLI, 1, -1, 0), (arith.ShRUI, -1, 3, 0), (arith.ShRSI, -2, 3, -1), (arith.ShRSI, 2, 7, 0),
        (arith.ShRSI, -4, -4, -1),
    ],
)  # fmt: skip
def test_both_models_have_the_documented_edges(cls: Any, a: int, b: int, wanted: int) -> None:
    """Of integers of three bits; the rules' own evaluation of constants agrees."""
    op = apply(cls, constant(a, SMALL), constant(b, SMALL))().defining_op
    (result,) = op.results
    wanted = int(proofs.wrap(wanted, 3))
    assert proofs.evaluate(result, {}, result) == wanted
    assert z3.simplify(proofs.z3_value(result, {}, result)).as_signed_long() == wanted
    folded = next(rule for rule in INTEGER_RULES if rule.name == "fold_integers")(op)
    assert proofs.wrap(folded.value, 3) == wanted


# -- z3 -----------------------------------------------------------------------------------------------------------


def z3_samples() -> dict[str, list[Build]]:
    """A few expressions of 16 bits for each integer rule: the first of each pair of root and inner operation."""
    inputs = Inputs()
    chosen: dict[tuple[str, Any], Build] = {}
    families = (binary_expressions, compare_expressions, select_expressions)
    for build in itertools.chain.from_iterable(family(inputs, i16) for family in families):
        op = build().defining_op
        if op.__class__ not in proofs.Z3_MEANINGS:
            continue
        shape = tuple(v.defining_op.name if v.defining_op else "x" for v in op.operands)
        for rule in ARITH_RULES:
            key = (rule.name, (op.__class__, shape, op.attributes.get("predicate")))
            if key in chosen or not rule.applies_to(op.__class__):
                continue
            if rule(build().defining_op) is not None:
                chosen[key] = build
    by_rule: dict[str, list[Build]] = {}
    for (name, _), build in chosen.items():
        by_rule.setdefault(name, []).append(build)
    return by_rule


def test_integer_rules_hold_for_16_bits(all_cases: bool):
    samples = z3_samples()
    rules = {r.name: r for r in ARITH_RULES}
    assert len(samples) >= 20
    proved = 0
    for name, builds in samples.items():
        for build in builds[: 8 if all_cases else 3]:
            op, original = build().defining_op, build().defining_op
            out = rules[name](op)
            answer = op.results[0] if out is CHANGED else out[0] if isinstance(out, list) else out
            env = {}
            for leaf in _variables(original) | _variables(op):
                env[leaf] = z3.BitVec(f"v{leaf.index}", leaf.type.width)
            before = proofs.z3_value(original.results[0], dict(env), original.results[0])
            after = proofs.z3_value(answer, dict(env), original.results[0])
            solver = z3.Solver()
            solver.set("timeout", 20_000)
            solver.add(before != after)
            assert solver.check() == z3.unsat, f"{name} on {describe(original)}: {solver.check()}"
            proved += 1
    assert proved > (100 if all_cases else 40)


def _variables(op: Operation) -> set[Any]:
    found = set()
    for v in op.operands:
        if v.defining_op is None:
            found.add(v)
        else:
            found |= _variables(v.defining_op)
    return found
