"""Attributes: interned, immutable compile-time data on operations.

>>> IntegerAttr(3, i32) is IntegerAttr(3, i32)
True
>>> print(ArrayAttr((IntegerAttr(1, i32), StringAttr("a"))))
[1 : i32, "a"]
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import Any

from ..support.text import quote
from .floats import float_bits, format_float, round_float
from .types import FloatType, IndexType, IntegerType, Interned, ShapedType, Type, f64, i1, i32, i64

__all__ = [
    "UNIT",
    "ArrayAttr",
    "Attribute",
    "DIALECT_ATTRIBUTES",
    "DenseArrayAttr",
    "DenseElementsAttr",
    "DictionaryAttr",
    "FloatAttr",
    "IntegerAttr",
    "OpaqueAttr",
    "StringAttr",
    "SymbolRefAttr",
    "TypeAttr",
    "UnitAttr",
    "bool_attr",
    "float_bits",
    "key",
    "quote",
]

_BARE = re.compile(r"[A-Za-z_][\w$.]*", re.ASCII).fullmatch


class Attribute(Interned):
    """Base of all attributes. `str(attribute)` is its MLIR text."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


DIALECT_ATTRIBUTES: dict[str, Callable[[Any], Attribute]] = {}
"""How the attributes `#dialect.mnemonic…` are read: by mnemonic, called with the parser behind the mnemonic."""


class IntegerAttr(Attribute):
    """`42 : i32`, `true`; the value is kept signed for `iN`, unsigned for `uiN`."""

    __slots__ = ("type", "value")
    value: int
    type: Type

    def __new__(cls, value: int, ty: Type = i64) -> IntegerAttr:
        found = cls._table.get((value, ty))
        if found is not None:
            return found
        key = (value, ty)
        value = int(value)
        if ty is i1:
            value &= 1
        elif isinstance(ty, IntegerType) and ty.width:
            value &= (1 << ty.width) - 1
            if ty.signedness != "u" and value >> (ty.width - 1):
                value -= 1 << ty.width
        self = object.__new__(cls)
        self.value, self.type = value, ty
        self = cls._table.setdefault((value, ty), self)
        return cls._table.setdefault(key, self)

    def spell(self, texts: dict[Any, str]) -> str:
        if self.type is i1:
            return "true" if self.value else "false"
        return f"{self.value} : {texts[self.type]}"


def key(name: str) -> str:
    """The name of an entry of a dictionary as it stands in text."""
    return name if _BARE(name) else quote(name)


def bool_attr(value: bool) -> IntegerAttr:
    """`true` or `false`."""
    return IntegerAttr(1 if value else 0, i1)


class FloatAttr(Attribute):
    """`1.000000e+00 : f32`; the value is rounded to the type. -0.0 and NaN are values of their own."""

    __slots__ = ("type", "value")
    value: float
    type: FloatType

    def __new__(cls, value: float, ty: FloatType = f64) -> FloatAttr:
        value = round_float(float(value), ty)
        key = (struct.pack("<d", value), ty)
        found = cls._table.get(key)
        if found is not None:
            return found
        self = object.__new__(cls)
        self.value, self.type = value, ty
        return cls._table.setdefault(key, self)

    def spell(self, texts: dict[Any, str]) -> str:
        return f"{format_float(self.value, self.type)} : {texts[self.type]}"


class StringAttr(Attribute):
    """`"text"`"""

    __slots__ = ("value",)
    value: str

    def __new__(cls, value: str) -> StringAttr:
        found = cls._table.get(value)
        if found is not None:
            return found
        self = object.__new__(cls)
        self.value = value
        return cls._table.setdefault(value, self)

    def spell(self, texts: dict[Any, str]) -> str:
        return quote(self.value)


class UnitAttr(Attribute):
    """`unit`: present or absent."""

    __slots__ = ()

    def __new__(cls) -> UnitAttr:
        found = cls._table.get(())
        return found if found is not None else cls._table.setdefault((), object.__new__(cls))

    def spell(self, texts: dict[Any, str]) -> str:
        return "unit"


UNIT = UnitAttr()


class ArrayAttr(Attribute):
    """`[a, b]`"""

    __slots__ = ("elements",)
    elements: tuple[Attribute, ...]

    def __new__(cls, elements: tuple[Attribute, ...]) -> ArrayAttr:
        elements = tuple(elements)
        found = cls._table.get(elements)
        if found is not None:
            return found
        self = object.__new__(cls)
        self.elements = elements
        return cls._table.setdefault(elements, self)

    def spell(self, texts: dict[Any, str]) -> str:
        return f"[{', '.join([texts[a] for a in self.elements])}]"


class DictionaryAttr(Attribute):
    """`{a = 1 : i32, b}`; entries sorted by name."""

    __slots__ = ("entries",)
    entries: tuple[tuple[str, Attribute], ...]

    def __new__(cls, entries: dict[str, Attribute] | tuple[tuple[str, Attribute], ...]) -> DictionaryAttr:
        key = tuple(sorted(entries.items() if isinstance(entries, dict) else entries))
        found = cls._table.get(key)
        if found is not None:
            return found
        self = object.__new__(cls)
        self.entries = key
        return cls._table.setdefault(key, self)

    def get(self, name: str) -> Attribute | None:
        """The entry `name`, or None."""
        return next((a for n, a in self.entries if n == name), None)

    def spell(self, texts: dict[Any, str]) -> str:
        return "{" + ", ".join([key(n) if a is UNIT else f"{key(n)} = {texts[a]}" for n, a in self.entries]) + "}"


class SymbolRefAttr(Attribute):
    """`@name`"""

    __slots__ = ("name",)
    name: str

    def __new__(cls, name: str) -> SymbolRefAttr:
        found = cls._table.get(name)
        if found is not None:
            return found
        self = object.__new__(cls)
        self.name = name
        return cls._table.setdefault(name, self)

    def spell(self, texts: dict[Any, str]) -> str:
        plain = self.name and (self.name[0].isalpha() or self.name[0] == "_")
        plain = plain and all(c.isalnum() or c in "_$." for c in self.name) and self.name.isascii()
        return f"@{self.name}" if plain else f"@{quote(self.name)}"


class TypeAttr(Attribute):
    """A type used as an attribute."""

    __slots__ = ("type",)
    type: Type

    def __new__(cls, ty: Type) -> TypeAttr:
        found = cls._table.get(ty)
        if found is not None:
            return found
        self = object.__new__(cls)
        self.type = ty
        return cls._table.setdefault(ty, self)

    def spell(self, texts: dict[Any, str]) -> str:
        return texts[self.type]


class DenseArrayAttr(Attribute):
    """`array<i32: 1, 0>`"""

    __slots__ = ("element", "values")
    element: Type
    values: tuple[Any, ...]

    def __new__(cls, values: tuple[Any, ...], element: Type = i32) -> DenseArrayAttr:
        key = (tuple(values), element)
        found = cls._table.get(key)
        if found is not None:
            return found
        self = object.__new__(cls)
        self.values, self.element = key
        return cls._table.setdefault(key, self)

    def spell(self, texts: dict[Any, str]) -> str:
        if not self.values:
            return f"array<{texts[self.element]}>"
        if self.element is i1:
            return f"array<i1: {', '.join('true' if v else 'false' for v in self.values)}>"
        if isinstance(self.element, FloatType):
            return f"array<{self.element}: {', '.join(format_float(v, self.element) for v in self.values)}>"
        return f"array<{self.element}: {', '.join(map(str, self.values))}>"


class DenseElementsAttr(Attribute):
    """`dense<0.0> : tensor<4xf32>`: one value for all elements (a splat), or all of them in row-major order."""

    __slots__ = ("type", "values")
    type: ShapedType
    values: tuple[Any, ...]

    def __new__(cls, values: tuple[Any, ...], ty: ShapedType) -> DenseElementsAttr:
        element = ty.element
        key: tuple[object, ShapedType]
        if isinstance(element, FloatType):
            values = tuple(round_float(float(v), element) for v in values)
            key = (struct.pack(f"<{len(values)}d", *values), ty)
        else:
            values = tuple(IntegerAttr(v, element).value for v in values)
            key = (values, ty)
        found = cls._table.get(key)
        if found is not None:
            return found
        if len(values) not in (1, ty.numel):
            raise ValueError(f"{len(values)} values for {ty}")
        self = object.__new__(cls)
        self.values, self.type = values, ty
        return cls._table.setdefault(key, self)

    @property
    def is_splat(self) -> bool:
        """True when one value stands for all elements."""
        return len(self.values) == 1

    @property
    def splat(self) -> IntegerAttr | FloatAttr:
        """The value of all elements as a scalar attribute."""
        return scalar_attr(self.values[0], self.type.element)

    def spell(self, texts: dict[Any, str]) -> str:
        if self.is_splat and (self.type.numel != 1 or not self.type.shape):
            body = self._format(self.values[0])
        else:
            body = self._nested(self.type.shape, 0)[0] if self.values else ""
        return f"dense<{body}> : {texts[self.type]}"

    def _format(self, value: Any) -> str:
        element = self.type.element
        if isinstance(element, FloatType):
            return format_float(value, element)
        if element is i1:
            return "true" if value else "false"
        return str(value)

    def _nested(self, shape: tuple[int, ...], at: int) -> tuple[str, int]:
        if not shape:
            return self._format(self.values[at]), at + 1
        parts = []
        for _ in range(shape[0]):
            text, at = self._nested(shape[1:], at)
            parts.append(text)
        return f"[{', '.join(parts)}]", at


def scalar_attr(value: Any, element: Type) -> IntegerAttr | FloatAttr:
    """A Python number as the attribute of its element type."""
    if isinstance(element, FloatType):
        return FloatAttr(value, element)
    if not isinstance(element, (IntegerType, IndexType)):
        raise ValueError(f"no scalar attribute of type {element}")
    return IntegerAttr(value, element)


class OpaqueAttr(Attribute):
    """An attribute of a dialect that has no class of its own here, kept as text: `#dialect.body`."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> OpaqueAttr:
        found = cls._table.get(text)
        if found is not None:
            return found
        self = object.__new__(cls)
        self.text = text
        return cls._table.setdefault(text, self)

    def spell(self, texts: dict[Any, str]) -> str:
        return self.text.replace("\1", "")
