"""Commutativity of the combine region of a reduction or scan.

`tt.reduce` combines elements with an associative function. If the function is commutative as well, a lowering may
combine the elements of a thread in any order; a composition of linear maps must keep its order. This is inferred, not
declared:

| kind | f(a, b) and f(b, a) | example |
|---|---|---|
| SYMMETRIC | the same expression up to the order of operands of commutative operations: bitwise equal | a sum |
| COMMUTATIVE | equal up to rounding | argmax, Welford mean and variance |
| ORDERED | different, or unknown | a.scale * b.scale, a.shift * b.scale + b.shift |

Inline assembly of one commutative instruction with two operands (`max.NaN.xorsign.abs.f32`) counts as a commutative
operation.

COMMUTATIVE is decided by evaluating both on samples: small integers, which contain all cases of order and ties that
comparisons can distinguish, and values of different magnitude, on which distinct rational functions differ. A region
with an unknown operation is ORDERED, which is always correct.
"""

from __future__ import annotations

import enum
import functools
import itertools
import math
import operator
import random
from collections.abc import Callable, Sequence
from typing import Any

from ..ir import Block, FloatAttr, FloatType, IntegerAttr, IntegerType, Value
from ..ir.traits import COMMUTATIVE as COMMUTES
from ..ir.traits import CONSTANT
from ..support.dataclasses import dataclass
from ..support.patterns import pattern

__all__ = ["Combine", "Order", "combine_of", "identity_element"]


class Order(enum.Enum):
    """Which reorderings are allowed."""

    SYMMETRIC = "symmetric"
    COMMUTATIVE = "commutative"
    ORDERED = "ordered"


@dataclass(frozen=True)
class Combine:
    """A combine region: `order`, the number of operations, and the name of the operation if there is exactly one.

    `operation` is such that the region is `operation(a, b)`; None for anything else.
    """

    order: Order
    size: int
    operation: str | None


def combine_of(block: Block) -> Combine:
    """Analyze the combine region with this block, whose arguments are (a…, b…)."""
    return _classified(_program(block))


Step = tuple[str, Any, tuple[int, ...], int, bool]  # name, detail, operands, results, whether operands commute


@dataclass(frozen=True)
class _Program:
    """A region as text that can be compared: values are numbered, arguments first."""

    types: tuple[Any, ...]
    steps: tuple[Step, ...]
    results: tuple[int, ...]


def _program(block: Block) -> _Program:
    numbers: dict[Value, int] = {v: i for i, v in enumerate(block.args)}
    steps = []
    for op in list(block)[:-1]:
        operands = tuple(numbers.get(v, -1) for v in op.operands)
        name = op.name if not op.regions and len(op.results) == 1 and -1 not in operands else "unknown"
        commutes = bool(op.traits & COMMUTES) or _is_commutative_assembly(op)
        steps.append((name, _detail(op), operands, len(op.results), commutes))
        for r in op.results:
            numbers[r] = len(numbers)
    last = block.last
    assert last is not None
    types = tuple(v.type for v in block.args)
    return _Program(types, tuple(steps), tuple(numbers.get(v, -1) for v in last.operands))


_ONE_INSTRUCTION = pattern(
    r"[\s{]*(?:add|and|max|min|mul|or|xor)\.[\w.:]+\s+\$0\s*,\s*(?:\$1\s*,\s*\$2|\$2\s*,\s*\$1)\s*;[\s}]*"
)


def _is_commutative_assembly(op: Any) -> bool:
    """Whether it is one commutative instruction of the result and two operands."""
    if op.name != "tt.elementwise_inline_asm" or not op.pure or len(op.operands) != 2:
        return False
    return _ONE_INSTRUCTION.fullmatch(op.asm_string) is not None


def _detail(op: Any) -> Any:
    """What distinguishes operations of one name: the constant, the predicate, the text, the result type."""
    if op.name == "tt.elementwise_inline_asm":
        return op.asm_string
    if op.traits & CONSTANT:
        value = op.attributes["value"]
        return value.value if isinstance(value, (IntegerAttr, FloatAttr)) else None
    predicate = getattr(op, "predicate", None)
    return predicate.name if predicate is not None else op.results[0].type if op.results else None


@functools.lru_cache(256)
def _classified(program: _Program) -> Combine:
    size = len(program.steps)
    half = len(program.types) // 2
    operation = None
    if half == 1 and size == 1 and sorted(program.steps[0][2]) == [0, 1] and program.results == (2,):
        operation = program.steps[0][0]
    straight, swapped = _expressions(program, range(2 * half)), _expressions(program, _swap(range(2 * half)))
    if -1 not in program.results and straight == swapped:
        return Combine(Order.SYMMETRIC, size, operation)
    order = Order.COMMUTATIVE if _agrees(program) else Order.ORDERED
    return Combine(order, size, operation)


def _swap(values: Sequence[Any]) -> list[Any]:
    """(a…, b…) as (b…, a…)."""
    half = len(values) // 2
    return [*values[half:], *values[:half]]


def _expressions(program: _Program, arguments: Sequence[int]) -> list[Any]:
    """The results as expression trees with operands of commutative operations in canonical order.

    A multiplication and an addition may be fused to one FMA, which rounds once: then the order of operands matters.
    """
    values: list[Any] = [("argument", i) for i in arguments]
    for i, (name, detail, operands, results, commutes) in enumerate(program.steps):
        inner: list[Any] = [values[n] if n >= 0 else ("outside", i) for n in operands]
        if commutes and not (name == "arith.addf" and "arith.mulf" in repr(inner)):
            inner.sort(key=repr)
        own = (name, str(detail), *inner) if name != "unknown" else ("unknown", i, object())
        values += [own] if results == 1 else [(own, k) for k in range(results)]
    return [values[n] for n in program.results if n >= 0]


# -- samples ----------------------------------------------------------------------------------------------------------


def _agrees(program: _Program) -> bool:
    """Whether f(a, b) = f(b, a) on all samples; samples on which neither is defined are ignored."""
    if -1 in program.results or any(name not in _EVALUATE for name, *_ in program.steps):
        return False
    for sample in _samples(program):
        left, right = _run(program, sample), _run(program, _swap(sample))
        if left != right and (left is None or right is None or not _same(left, right)):
            return False
    return True


def _samples(program: _Program) -> list[list[Any]]:
    """Arguments: all of 0 and 1 (up to four arguments), then random ones of a few values, then of many.

    Among the few are those around the constants of the region, where comparisons change their mind.
    """
    types, dice = program.types, random.Random(2026)
    constants = [detail for name, detail, *_ in program.steps if name == "arith.constant" and detail is not None]
    few = [0, 1, 2, *(c + d for c in constants for d in (-1, 0, 1))]
    out: list[list[Any]] = []
    if len(types) <= 4:
        out += [list(row) for row in itertools.product((0, 1), repeat=len(types))]
    out += [[dice.choice(few) for _ in types] for _ in range(24 if not constants else 64)]
    floats = [isinstance(ty, FloatType) for ty in types]
    out += [[dice.uniform(-4, 4) if f else dice.randrange(-100, 100) for f in floats] for _ in range(8)]
    out += [[dice.uniform(1, 4) if f else dice.randrange(1, 100) for f in floats] for _ in range(8)]
    return [[_fit(v, ty) for v, ty in zip(row, types)] for row in out]


def _fit(value: Any, ty: Any) -> Any:
    if isinstance(ty, IntegerType):
        value = int(value) & ((1 << ty.width) - 1)
        return value - (1 << ty.width) if ty.width > 1 and value >> (ty.width - 1) else value
    return float(value)


def _same(left: Sequence[Any], right: Sequence[Any]) -> bool:
    return all(
        math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-6) if isinstance(a, float) else a == b for a, b in zip(left, right)
    )


def _run(program: _Program, arguments: Sequence[Any]) -> list[Any] | None:
    """The results for these arguments; None where an operation is undefined, such as 0 / 0."""
    values = list(arguments)
    for name, detail, operands, _, _ in program.steps:
        try:
            value = _EVALUATE[name](detail, *(values[n] for n in operands))
        except (ArithmeticError, ValueError):
            return None
        values.append(_fit(value, detail) if isinstance(detail, IntegerType) else value)
    return [values[n] for n in program.results]


def _unsigned(compare: Callable[[int, int], bool]) -> Callable[[int, int], bool]:
    return lambda a, b: compare(a + (1 << 64) if a < 0 else a, b + (1 << 64) if b < 0 else b)


_INTEGER_TESTS: dict[str, Callable[[int, int], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "slt": operator.lt,
    "sle": operator.le,
    "sgt": operator.gt,
    "sge": operator.ge,
    "ult": _unsigned(operator.lt),
    "ule": _unsigned(operator.le),
    "ugt": _unsigned(operator.gt),
    "uge": _unsigned(operator.ge),
}
_FLOAT_TESTS: dict[str, Callable[[float, float], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def _compare_floats(predicate: str, a: float, b: float) -> int:
    test = _FLOAT_TESTS.get(predicate[1:])
    if test is None:
        return int(predicate in ("ord", "true"))
    return int(test(a, b))


def _of_two(fn: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda _, a, b: fn(a, b)


def _of_one(fn: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda _, a: fn(a)


def _same_value(value: Any) -> Any:
    return value


_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "addf": operator.add,
    "addi": operator.add,
    "subf": operator.sub,
    "subi": operator.sub,
    "mulf": operator.mul,
    "muli": operator.mul,
    "divf": operator.truediv,
    "andi": operator.and_,
    "ori": operator.or_,
    "xori": operator.xor,
    "maximumf": max,
    "maxnumf": max,
    "maxsi": max,
    "minimumf": min,
    "minnumf": min,
    "minsi": min,
}
_EVALUATE: dict[str, Callable[..., Any]] = {
    **{f"arith.{name}": _of_two(fn) for name, fn in _BINARY.items()},
    **{f"arith.{name}": _of_one(_same_value) for name in ("extf", "truncf", "sitofp", "extsi")},
    "arith.constant": lambda value: float("nan") if value is None else value,
    "arith.cmpi": lambda predicate, a, b: int(_INTEGER_TESTS[predicate](a, b)),
    "arith.cmpf": _compare_floats,
    "arith.select": lambda _, c, a, b: a if c else b,
    "arith.negf": _of_one(operator.neg),
    "math.absf": _of_one(abs),
    "math.absi": _of_one(abs),
    "math.exp": _of_one(math.exp),
    "math.exp2": _of_one(lambda a: 2.0**a),
    "math.log": _of_one(math.log),
    "math.log2": _of_one(math.log2),
    "math.sqrt": _of_one(math.sqrt),
    "math.fma": lambda _, a, b, c: a * b + c,
}


# -- identity elements --------------------------------------------------------------------------------------------

_IDENTITIES: dict[str, Callable[[int], float | int]] = {
    "arith.addf": lambda width: -0.0,  # x + -0.0 = x for every x, -0.0 too
    "arith.mulf": lambda width: 1.0,
    "arith.maximumf": lambda width: -math.inf,
    "arith.minimumf": lambda width: math.inf,
    "arith.maxnumf": lambda width: math.nan,  # the other operand wins against NaN
    "arith.minnumf": lambda width: math.nan,
    "arith.addi": lambda width: 0,
    "arith.muli": lambda width: 1,
    "arith.andi": lambda width: -1,
    "arith.ori": lambda width: 0,
    "arith.xori": lambda width: 0,
    "arith.maxui": lambda width: 0,
    "arith.minui": lambda width: -1,
    "arith.maxsi": lambda width: -(1 << (width - 1)),
    "arith.minsi": lambda width: (1 << (width - 1)) - 1,
}


def identity_element(op: str, element: IntegerType | FloatType) -> float | int | None:
    """e with op(e, x) = op(x, e) = x for every x of the type; None for an operation without a known one.

    >>> from tritium.ir import i1, i8
    >>> identity_element("arith.maxsi", i8), identity_element("arith.andi", i1)
    (-128, 1)
    """
    find = _IDENTITIES.get(op)
    if find is None:
        return None
    found = find(element.width)
    return int(found) & 1 if element.width == 1 else found
