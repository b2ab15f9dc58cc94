"""What operations require of their types, as functions for `verify_op` in a definition.

Each takes the operation and returns messages, none when all is well. They run only on operations whose operands,
attributes and shapes the general invariants have found in order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..ir import (
    FloatType,
    IndexType,
    IntegerType,
    Operation,
    Type,
    Value,
    element_type,
    i1,
    shape_of,
    with_element,
)

__all__ = [
    "all_floats",
    "all_integers",
    "bit_width",
    "compare",
    "condition",
    "extend",
    "floats",
    "floats_to_integers",
    "index_cast",
    "integers",
    "integers_to_floats",
    "is_float",
    "is_integer",
    "listed",
    "same_bits",
    "truncate",
]

GOOD: tuple[str, ...] = ()


class _Cached(dict[Type, bool]):
    """A property of the element of a type, computed once per type."""

    def __init__(self, kinds: tuple[type, ...]) -> None:
        self.kinds = kinds

    def __missing__(self, ty: Type) -> bool:
        element = element_type(ty)
        good = self[ty] = isinstance(element, self.kinds) and getattr(element, "signedness", "") == ""
        return good


is_integer = _Cached((IntegerType, IndexType))
is_float = _Cached((FloatType,))


def listed(values: Sequence[Value | Type]) -> str:
    """Types, or the types of values, in round brackets."""
    return "(" + ", ".join(str(v.type if isinstance(v, Value) else v) for v in values) + ")"


def bit_width(ty: Type) -> int:
    """Bits of one element; 0 for types without a width of their own."""
    return getattr(element_type(ty), "width", 0)


def integers(op: Operation) -> Sequence[str]:
    """Operand 0 is an integer or index (or a tensor of them); the trait SAME_TYPE says the rest."""
    ty = op.operands[0].type
    return GOOD if is_integer[ty] else (f"operands must be integers, not {ty}",)


def floats(op: Operation) -> Sequence[str]:
    """Operand 0 is a float (or a tensor of them); the trait SAME_TYPE says the rest."""
    ty = op.operands[0].type
    return GOOD if is_float[ty] else (f"operands must be floats, not {ty}",)


def all_floats(op: Operation) -> Sequence[str]:
    """All operands are floats (or tensors of them) of the result's type."""
    wrong = next((v.type for v in (*op.operands, *op.results) if v.type is not op.operands[0].type), None)
    return (
        floats(op) if wrong is None else (f"all types must be equal, but there are {op.operands[0].type} and {wrong}",)
    )


def all_integers(op: Operation) -> Sequence[str]:
    """All operands are integers (or tensors of them) of the type of result 0."""
    wrong = next((v.type for v in (*op.operands, op.results[0]) if v.type is not op.operands[0].type), None)
    return (
        integers(op)
        if wrong is None
        else (f"all types must be equal, but there are {op.operands[0].type} and {wrong}",)
    )


def _conversion(
    source: dict[Type, bool], target: dict[Type, bool], words: str, order: int
) -> Callable[[Operation], Sequence[str]]:
    """From `source` types to `target` types; `order` 1: to more bits, -1: to fewer, 0: any."""

    def check(op: Operation) -> Sequence[str]:
        a, b = op.operands[0].type, op.results[0].type
        if (
            not source[a]
            or not target[b]
            or isinstance(element_type(a), IndexType)
            or isinstance(element_type(b), IndexType)
        ):
            return (f"converts {words}, not {a} to {b}",)
        if order and (bit_width(b) - bit_width(a)) * order <= 0:
            return (f"the result must have {'more' if order > 0 else 'fewer'} bits than the operand: {a} to {b}",)
        return GOOD

    return check


integers_to_floats = _conversion(is_integer, is_float, "integers to floats", 0)
floats_to_integers = _conversion(is_float, is_integer, "floats to integers", 0)


class extend:
    """Conversions to more bits."""

    integers = staticmethod(_conversion(is_integer, is_integer, "integers", 1))
    floats = staticmethod(_conversion(is_float, is_float, "floats", 1))


class truncate:
    """Conversions to fewer bits."""

    integers = staticmethod(_conversion(is_integer, is_integer, "integers", -1))
    floats = staticmethod(_conversion(is_float, is_float, "floats", -1))


def index_cast(op: Operation) -> Sequence[str]:
    """From index to an integer type, or back."""
    a, b = element_type(op.operands[0].type), element_type(op.results[0].type)
    if isinstance(a, IndexType) + isinstance(b, IndexType) != 1 or not (is_integer[a] and is_integer[b]):
        return (f"converts index to an integer or back, not {a} to {b}",)
    return GOOD


def same_bits(op: Operation) -> Sequence[str]:
    """Operand and result have elements of one width."""
    a, b = op.operands[0].type, op.results[0].type
    if bit_width(a) != bit_width(b):
        return (f"{a} and {b} have different widths",)
    return GOOD


def compare(op: Operation) -> Sequence[str]:
    """Two operands of one type; the result is i1 in their shape."""
    lhs, rhs = op.operands
    if lhs.type is not rhs.type:
        return (f"compares values of one type, not {lhs.type} with {rhs.type}",)
    if op.results[0].type is not with_element(lhs.type, i1):
        return (f"the result must be {with_element(lhs.type, i1)}, not {op.results[0].type}",)
    return floats(op) if op.name == "arith.cmpf" else integers(op)


def condition(op: Operation) -> Sequence[str]:
    """Operand 0 is i1."""
    if op.operands[0].type is not i1:
        return (f"the condition must be i1, not {op.operands[0].type}",)
    return GOOD


def same_shapes(*types: Type) -> bool:
    """Whether all types have one shape."""
    first = shape_of(types[0])
    return all(shape_of(ty) == first for ty in types)
