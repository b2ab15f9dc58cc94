"""Tuples of values of the language: `tl.tuple`."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import Any

from .aggregate_types import tuple_type, type_of
from .constexpr import constexpr, unwrap
from .scalar_types import BaseType

__all__ = ["tuple"]


class tuple:
    """An immutable sequence of compile-time and run-time values; `fields` has their names in named tuples.

    >>> tuple([constexpr(1), constexpr(2)])[0]
    constexpr[1]
    """

    __slots__ = ("_type", "values")
    values: list[Any]

    def __init__(self, args: Any, type: tuple_type | None = None, fields: list[str] | None = None) -> None:
        self.values = [*args]
        if type is None and fields is not None:
            type = tuple_type([type_of(v) for v in self.values], fields)
        self._type = type

    @property
    def type(self) -> tuple_type:
        """The types of the elements."""
        if self._type is None:
            self._type = tuple_type([type_of(v) for v in self.values])
        return self._type

    def _flatten_ir(self, out: list[Any]) -> None:
        for v in self.values:
            if hasattr(v, "_flatten_ir"):
                v._flatten_ir(out)

    def __getitem__(self, index: Any) -> Any:
        index = unwrap(index)
        if isinstance(index, slice):
            return tuple(self.values[slice(*(unwrap(p) for p in (index.start, index.stop, index.step)))])
        return self.values[index]

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_"):
            ty = self._type
            if ty is not None and ty.fields and name in ty.fields:
                return self.values[ty.fields.index(name)]
        raise AttributeError(name)

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    def __add__(self, other: Any) -> tuple:
        return tuple([*self.values, *other])

    def __radd__(self, other: Any) -> tuple:
        return tuple([*other, *self.values])

    def __mul__(self, count: Any) -> tuple:
        return tuple(self.values * unwrap(count))

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, (tuple, builtins.tuple, list)):
            return NotImplemented
        mine = [unwrap(v) for v in self.values]
        return constexpr(mine == [unwrap(v) for v in other])

    def __hash__(self) -> int:
        return hash(builtins.tuple(self.values))

    def __contains__(self, item: Any) -> bool:
        return unwrap(item) in [unwrap(v) for v in self.values]

    def __repr__(self) -> str:
        return f"({', '.join(map(str, self.values))}{',' if len(self.values) == 1 else ''})"


BaseType.make_tuple = tuple
