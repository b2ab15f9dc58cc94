"""Compile-time values: `tl.constexpr`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from .aggregate_types import constexpr_type
from .scalar_types import BaseType

__all__ = ["constexpr", "unwrap"]


def unwrap(x: Any) -> Any:
    """The Python value inside a constexpr; anything else unchanged."""
    return x.value if x.__class__ is constexpr else x


class constexpr:
    """A value known while compiling. Operators on constexpr give constexpr.

    >>> constexpr(3) + 4
    constexpr[7]
    >>> bool(constexpr(3) < 2)
    False
    """

    __slots__ = ("value",)
    value: Any

    def __init__(self, value: Any) -> None:
        while isinstance(value, constexpr):
            value = value.value
        self.value = value

    @property
    def type(self) -> constexpr_type:
        """The type that holds this value only."""
        return constexpr_type(self.value)

    def _flatten_ir(self, out: list[Any]) -> None:
        pass

    def __repr__(self) -> str:
        return f"constexpr[{self.value}]"

    def __str__(self) -> str:
        return str(self.value)

    def __hash__(self) -> int:
        return hash((constexpr, self.value))

    def __bool__(self) -> bool:
        return bool(self.value)

    def __index__(self) -> int:
        return operator.index(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Any:
        return (constexpr(v) for v in self.value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.value(*args, **kwargs)

    def __getitem__(self, index: Any) -> Any:
        return self.value[unwrap(index)]

    def __neg__(self) -> constexpr:
        return constexpr(-self.value)

    def __pos__(self) -> constexpr:
        return constexpr(+self.value)

    def __invert__(self) -> constexpr:
        return constexpr(~self.value)

    def __eq__(self, other: object) -> constexpr:  # type: ignore[override]
        return constexpr(self.value == unwrap(other))

    def __ne__(self, other: object) -> constexpr:  # type: ignore[override]
        return constexpr(self.value != unwrap(other))

    def logical_and(self, other: Any) -> constexpr:
        """`self and other`"""
        return constexpr(self.value and unwrap(other))

    def logical_or(self, other: Any) -> constexpr:
        """`self or other`"""
        return constexpr(self.value or unwrap(other))

    def not_(self) -> constexpr:
        """`not self`"""
        return constexpr(not self.value)


def _forward(fn: Callable[[Any, Any], Any]) -> Callable[[constexpr, Any], Any]:
    return lambda self, other: constexpr(fn(self.value, unwrap(other)))


def _reflected(fn: Callable[[Any, Any], Any]) -> Callable[[constexpr, Any], Any]:
    return lambda self, other: constexpr(fn(unwrap(other), self.value))


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and_", "or_", "xor"):
    _plain = _name.rstrip("_")
    setattr(constexpr, f"__{_plain}__", _forward(getattr(operator, _name)))
    setattr(constexpr, f"__r{_plain}__", _reflected(getattr(operator, _name)))
for _name in ("lt", "le", "gt", "ge"):
    setattr(constexpr, f"__{_name}__", _forward(getattr(operator, _name)))

BaseType.make_constexpr = constexpr
