"""The grid of a launcher: up to three integer expressions over a kernel's parameters, computed at each launch.

    1024, 1024, 1024        cdiv(n_elements, BLOCK_SIZE)        M / 16, N / 16, 1

Names are integer parameters, and compile-time values that are integers. There are `+ - * / // % << >>`, where both
divisions drop the remainder, and `cdiv`, `min` and `max` of two. All of it is computed in 64 bits. Shift amounts are 0
to 63 and no size is negative: constants are checked here, all others by the launcher, which returns an error.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from ...support.dataclasses import dataclass
from ...support.suggestions import did_you_mean
from ..signature import SignatureError, split_items

__all__ = ["MAX_BLOCKS", "Expression", "Grid", "read_grid"]

MAX_BLOCKS = ((1 << 31) - 1, 65535, 65535)
"""Blocks of a grid by dimension, of every NVIDIA GPU since 3.0."""

BITS = 64
"""Bits of the integers that a launcher computes with."""

DIVISIONS = ("div", "mod", "cdiv")
SHIFTS = ("shl", "shr")


@dataclass(frozen=True)
class Expression:
    """`operation` of `operands`: "int" has a number, "name" a parameter, the others two expressions."""

    operation: str
    operands: tuple[Any, ...]

    @property
    def constant(self) -> int | None:
        """The value, if no parameter is in it, no division by zero, and no shift by an amount out of range."""
        if self.operation == "int":
            return int(self.operands[0])
        if self.operation == "name":
            return None
        values = [operand.constant for operand in self.operands]
        if None in values or (self.operation in DIVISIONS and not values[1]):
            return None
        if self.operation in SHIFTS and not 0 <= values[1] < BITS:
            return None
        return _EVALUATE[self.operation](*values)

    def divisors(self) -> list[Expression]:
        """What it divides by and may be zero, in the order in which it is computed."""
        if self.operation in ("int", "name"):
            return []
        found = [divisor for operand in self.operands for divisor in operand.divisors()]
        if self.operation in DIVISIONS and not self.operands[1].constant:
            found.append(self.operands[1])
        return found

    def shift_amounts(self) -> list[Expression]:
        """The shift amounts that are known at launch only, in the order in which they are computed."""
        if self.operation in ("int", "name"):
            return []
        found = [amount for operand in self.operands for amount in operand.shift_amounts()]
        if self.operation in SHIFTS and self.operands[1].constant is None:
            found.append(self.operands[1])
        return found


def _quotient(a: int, b: int) -> int:
    """As C divides: towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_EVALUATE: Mapping[str, Any] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": _quotient,
    "mod": lambda a, b: a - _quotient(a, b) * b,
    "shl": lambda a, b: a << b,
    "shr": lambda a, b: a >> b,
    "cdiv": lambda a, b: _quotient(a + b - 1, b),
    "min": min,
    "max": max,
}

_OPERATORS = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.FloorDiv: "div",
    ast.Mod: "mod",
    ast.LShift: "shl",
    ast.RShift: "shr",
}
_FUNCTIONS = ("cdiv", "min", "max")


@dataclass(frozen=True)
class Grid:
    """Three expressions, and the text they were."""

    text: str
    sizes: tuple[Expression, Expression, Expression]


def read_grid(
    text: str, integers: Mapping[str, int | None], others: Mapping[str, str], spelled: Mapping[str, str] | None = None
) -> Grid:
    """The grid that `text` says. `integers` are the names that may occur, with their values where they are known;
    `others` says what each other parameter is; `spelled` has other spellings of names, which expressions then have.

    SignatureError points at what is wrong.
    """
    items = split_items(text, "grid", "()[]")
    if not 1 <= len(items) <= 3:
        at = items[3][1] if items else 0
        raise SignatureError("grid", text, at, 1, f"a grid has one, two or three sizes, not {len(items)}")
    sizes = [_Reader(text, at, integers, others, spelled or {}).read(item) for item, at in items]
    for axis, (size, (item, at)) in enumerate(zip(sizes, items)):
        value = size.constant
        if value is not None and not 0 <= value <= MAX_BLOCKS[axis]:
            message = f"{value} programs along axis {axis}: there are 0 to {MAX_BLOCKS[axis]}"
            raise SignatureError("grid", text, at, len(item), message)
    sizes += [Expression("int", (1,))] * (3 - len(sizes))
    return Grid(text, (sizes[0], sizes[1], sizes[2]))


class _Reader:
    """Reads one size, which begins at `at` of the text."""

    def __init__(
        self,
        text: str,
        at: int,
        integers: Mapping[str, int | None],
        others: Mapping[str, str],
        spelled: Mapping[str, str],
    ) -> None:
        self.text, self.at = text, at
        self.integers, self.others, self.spelled = integers, others, spelled

    def read(self, item: str) -> Expression:
        """The expression."""
        try:
            tree = ast.parse(item, mode="eval").body
        except SyntaxError as error:
            column = min(error.offset - 1, len(item)) if error.offset else len(item)  # 0: behind the last
            raise SignatureError("grid", self.text, self.at + column, 1, "this is no expression", _GRAMMAR) from None
        return self._expression(tree)

    def _wrong(self, node: Any, message: str, hint: str = "") -> SignatureError:
        length = (node.end_col_offset or node.col_offset + 1) - node.col_offset
        return SignatureError("grid", self.text, self.at + node.col_offset, length, message, hint)

    def _expression(self, node: ast.expr) -> Expression:
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return Expression("int", (node.value,))
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            operand = self._expression(node.operand)
            return Expression("sub", (Expression("int", (0,)), operand)) if isinstance(node.op, ast.USub) else operand
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            operands = self._expression(node.left), self._expression(node.right)
            return self._checked(node, Expression(_OPERATORS[type(node.op)], operands))
        if isinstance(node, ast.Call) and not node.keywords:
            name = ast.unparse(node.func).removeprefix("triton.").removeprefix("tl.")
            if name not in _FUNCTIONS:
                raise self._wrong(node.func, f"there is no function {name!r}", _GRAMMAR)
            if len(node.args) != 2:
                raise self._wrong(node, f"{name} takes two operands, not {len(node.args)}")
            operands = self._expression(node.args[0]), self._expression(node.args[1])
            return self._checked(node, Expression(name, operands))
        raise self._wrong(node, "this has no place in a grid", _GRAMMAR)

    def _checked(self, node: Any, made: Expression) -> Expression:
        second = made.operands[1].constant
        if made.operation in DIVISIONS and second == 0:
            raise self._wrong(node, "a division by zero")
        if made.operation in SHIFTS and second is not None and not 0 <= second < BITS:
            raise self._wrong(node, f"a shift by {second}: amounts are 0 to {BITS - 1}")
        value = made.constant
        if value is not None and not -(1 << (BITS - 1)) <= value < 1 << (BITS - 1):
            raise self._wrong(node, f"{value} does not fit in {BITS} bits")
        return made

    def _name(self, node: ast.Name) -> Expression:
        name = node.id
        if name in self.integers:
            value = self.integers[name]
            return Expression("name", (self.spelled.get(name, name),)) if value is None else Expression("int", (value,))
        if name in self.others:
            raise self._wrong(node, f"{name} is {self.others[name]}, no integer")
        known = ", ".join(self.integers) or "none"
        hint = did_you_mean(name, self.integers) or f"integers of this kernel: {known}"
        raise self._wrong(node, f"the kernel has no parameter {name!r}", hint)


_GRAMMAR = "a size is made of integers, integer parameters, + - * / // % << >>, cdiv(a, b), min(a, b), max(a, b)"
