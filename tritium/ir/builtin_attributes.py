"""The rarer attributes of the builtin dialect."""

from __future__ import annotations

from typing import Any

from ..support import Location
from ..support.text import quote
from .aliases import is_alias
from .attributes import UNIT, key, nested
from .interning import Attribute
from .types import Type

__all__ = [
    "AffineAttr",
    "DenseResourceAttr",
    "DenseStringAttr",
    "DistinctAttr",
    "LocationAttr",
    "StridedLayoutAttr",
]


class AffineAttr(Attribute):
    """`affine_map<(d0) -> (d0 * 2)>` or `affine_set<(d0) : (d0 - 1 >= 0)>`, kept as text."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> AffineAttr:
        found = cls._table.get(text)
        if found is not None:
            return found
        self = object.__new__(cls)
        self.text = text
        return cls._table.setdefault(text, self)

    @property
    def alias_name(self) -> str:  # type: ignore[override]
        """Maps and sets are always shown by an alias."""
        return "map" if self.text.startswith("affine_map") else "set"

    def spell(self, texts: dict[Any, str]) -> str:
        return self.text.replace("\1", "")


class StridedLayoutAttr(Attribute):
    """`strided<[8, ?], offset: 4>`: element i, j lies at 4 + 8 i + s j; None stands for what is not known."""

    __slots__ = ("offset", "strides")
    strides: tuple[int | None, ...]
    offset: int | None

    def __new__(cls, strides: tuple[int | None, ...], offset: int | None = 0) -> StridedLayoutAttr:
        content = (tuple(strides), offset)
        found = cls._table.get(content)
        if found is not None:
            return found
        self = object.__new__(cls)
        self.strides, self.offset = content
        return cls._table.setdefault(content, self)

    def spell(self, texts: dict[Any, str]) -> str:
        offset = "" if self.offset == 0 else f", offset: {'?' if self.offset is None else self.offset}"
        return f"strided<[{', '.join(['?' if s is None else str(s) for s in self.strides])}]{offset}>"


class DistinctAttr(Attribute):
    """`distinct[0]<42 : i32>`: an attribute that is equal to no other with the same content but another number."""

    __slots__ = ("content", "number")
    content: Attribute
    number: int

    def __new__(cls, number: int, content: Attribute = UNIT) -> DistinctAttr:
        found = cls._table.get((number, content))
        if found is not None:
            return found
        self = object.__new__(cls)
        self.number, self.content = number, content
        return cls._table.setdefault((number, content), self)

    @property
    def alias_name(self) -> str | None:  # type: ignore[override]
        """Those with a content are shown by an alias."""
        return None if self.content is UNIT else "distinct"

    def spell(self, texts: dict[Any, str]) -> str:
        return f"distinct[{self.number}]<{'' if self.content is UNIT else texts[self.content]}>"


class LocationAttr(Attribute):
    """`loc("k.py":1:2)`: a location as an attribute of an operation."""

    __slots__ = ("loc",)
    loc: Location

    def __new__(cls, loc: Location) -> LocationAttr:
        found = cls._table.get(loc)
        if found is not None:
            return found
        self = object.__new__(cls)
        self.loc = loc
        return cls._table.setdefault(loc, self)

    def spell(self, texts: dict[Any, str]) -> str:
        text = texts[self.loc]
        return text if is_alias(text) else f"loc({text})"


class DenseResourceAttr(Attribute):
    """`dense_resource<key> : tensor<2xi32>`: elements that stand in the resources at the end of the text."""

    __slots__ = ("name", "type")
    name: str
    type: Type

    def __new__(cls, name: str, ty: Type) -> DenseResourceAttr:
        found = cls._table.get((name, ty))
        if found is not None:
            return found
        self = object.__new__(cls)
        self.name, self.type = name, ty
        return cls._table.setdefault((name, ty), self)

    def spell(self, texts: dict[Any, str]) -> str:
        return f"dense_resource<{key(self.name)}> : {texts[self.type]}"


class DenseStringAttr(Attribute):
    """`dense<["a", "b"]> : tensor<2x!dialect.type>`: elements of a type whose values are written as strings."""

    __slots__ = ("type", "values")
    values: tuple[str, ...]
    type: Any

    def __new__(cls, values: tuple[str, ...], ty: Any) -> DenseStringAttr:
        values = tuple(values)
        if len(set(values)) == 1:
            values = values[:1]
        found = cls._table.get((values, ty))
        if found is not None:
            return found
        if len(values) not in (1, ty.numel):
            raise ValueError(f"{len(values)} values for {ty}")
        self = object.__new__(cls)
        self.values, self.type = values, ty
        return cls._table.setdefault((values, ty), self)

    def spell(self, texts: dict[Any, str]) -> str:
        items = [quote(v) for v in self.values]
        body = items[0] if len(items) == 1 else nested(items, self.type.shape)
        return f"dense<{body}> : {texts[self.type]}"
