"""Attributes: interned, immutable compile-time data on operations.

>>> IntegerAttr(3, i32) is IntegerAttr(3, i32)
True
>>> print(ArrayAttr((IntegerAttr(1, i32), StringAttr("a"))))
[1 : i32, "a"]
"""

from __future__ import annotations

import itertools
import re
import struct
from collections.abc import Callable, Iterable
from typing import Any

from ..support.text import quote
from .floats import ExactFloat, float_bits, format_float, round_float
from .interning import Attribute
from .types import FloatType, IndexType, IntegerType, ShapedType, Type, f64, i1, i32, i64

__all__ = [
    "UNIT",
    "ArrayAttr",
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


DIALECT_ATTRIBUTES: dict[str, Callable[[Any], Attribute]] = {}
"""How the attributes `#dialect.mnemonic…` are read: by mnemonic, called with the parser after the mnemonic."""


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
        return f"{integer_text(self.value)} : {texts[self.type]}"

    def spell_briefly(self, texts: dict[Any, str]) -> str:
        return integer_text(self.value) if self.type is i64 else texts[self]


def integer_text(value: int) -> str:
    """The digits of a number; hexadecimal ones where Python would take too long for decimal ones."""
    try:
        return str(value)
    except ValueError:
        return f"{'-' if value < 0 else ''}0x{abs(value):X}"


def key(name: str) -> str:
    """The name of an entry of a dictionary in text."""
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
        value = round_float(value if isinstance(value, float) else float(value), ty)
        key = (value.bits if isinstance(value, ExactFloat) else struct.pack("<d", value), ty)
        found = cls._table.get(key)
        if found is not None:
            return found
        self = object.__new__(cls)
        self.value, self.type = value, ty
        return cls._table.setdefault(key, self)

    def spell(self, texts: dict[Any, str]) -> str:
        return f"{format_float(self.value, self.type)} : {texts[self.type]}"

    def spell_briefly(self, texts: dict[Any, str]) -> str:
        text = format_float(self.value, self.type) if self.type is f64 else "0x"
        return texts[self] if text.startswith("0x") else text


class StringAttr(Attribute):
    """`"text"`, rarely with a type: `"text" : i32`. Bytes that are no UTF-8 are kept as lone surrogates."""

    __slots__ = ("type", "value")
    value: str
    type: Type | None

    def __new__(cls, value: str, ty: Type | None = None) -> StringAttr:
        content = value if ty is None else (value, ty)
        found = cls._table.get(content)
        if found is not None:
            return found
        self = object.__new__(cls)
        self.value, self.type = value, ty
        return cls._table.setdefault(content, self)

    def spell(self, texts: dict[Any, str]) -> str:
        return quote(self.value) if self.type is None else f"{quote(self.value)} : {texts[self.type]}"


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
        return f"[{', '.join([a.spell_briefly(texts) for a in self.elements])}]"


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
    """`@name`, or `@name::@inner`: a symbol in the table of another."""

    __slots__ = ("name", "nested")
    name: str
    nested: tuple[str, ...]

    def __new__(cls, name: str, nested: tuple[str, ...] = ()) -> SymbolRefAttr:
        content = (name, *nested) if nested else name
        found = cls._table.get(content)
        if found is not None:
            return found
        self = object.__new__(cls)
        self.name, self.nested = name, tuple(nested)
        return cls._table.setdefault(content, self)

    def spell(self, texts: dict[Any, str]) -> str:
        return "::".join([f"@{key(name)}" for name in (self.name, *self.nested)])


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
        if isinstance(element, IntegerType) and element is not i1:
            key = (tuple([IntegerAttr(v, element).value for v in values]), element)
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
    """`dense<0.0> : tensor<4xf32>`: one value for all elements (a splat), or all of them in row-major order.

    Elements that are all the same are a splat, however they were given. A complex element is a pair.
    """

    __slots__ = ("type", "values")
    type: ShapedType
    values: tuple[Any, ...]

    def __new__(cls, values: tuple[Any, ...], ty: ShapedType) -> DenseElementsAttr:
        values, identity = _normal(values, ty.element)
        if len(values) > 1 and _is_repeated(values, identity, ty.element):
            count, values = len(values), values[:1]
            if count != ty.numel:
                raise ValueError(f"{count} values for {ty}")
            identity = _normal(values, ty.element)[1]
        found = cls._table.get((identity, ty))
        if found is not None:
            return found
        if len(values) not in (1, ty.numel):
            raise ValueError(f"{len(values)} values for {ty}")
        self = object.__new__(cls)
        self.values, self.type = values, ty
        return cls._table.setdefault((identity, ty), self)

    @property
    def is_splat(self) -> bool:
        """True when one value stands for all elements."""
        return len(self.values) == 1

    @property
    def splat(self) -> IntegerAttr | FloatAttr:
        """The value of all elements as a scalar attribute."""
        return scalar_attr(self.values[0], self.type.element)

    def spell(self, texts: dict[Any, str]) -> str:
        return f"dense<{self.body()}> : {texts[self.type]}"

    def body(self) -> str:
        """The text between the angle brackets; more than a hundred different numbers as the bytes they have."""
        format_one = _formatter(self.type.element)
        if self.is_splat:
            return format_one(self.values[0])
        if len(self.values) > 100:
            return f'"0x{_raw(self.values, self.type.element).hex().upper()}"'
        return nested([format_one(v) for v in self.values], self.type.shape)


def _raw(values: Iterable[Any], element: Any) -> bytes:
    """The elements as they lie in memory, each in whole bytes, the signs of short ones cut off."""
    part = getattr(element, "element", None)
    if part is not None:  # complex
        return _raw(itertools.chain.from_iterable(values), part)
    size = storage_bytes(element)
    if isinstance(element, FloatType):
        return b"".join([float_bits(v, element).to_bytes(size, "little") for v in values])
    mask = (1 << element.width) - 1
    return b"".join([(v & mask).to_bytes(size, "little") for v in values])


def storage_bytes(element: Any) -> int:
    """How many bytes an element takes in raw data."""
    size: int = (element.width + 7) // 8
    return max(size, 1)


def _normal(values: tuple[Any, ...], element: Type) -> tuple[tuple[Any, ...], Any]:
    """Values as elements of the type, and what tells them from all others (NaNs and zeros by their bits)."""
    if isinstance(element, FloatType):
        values = tuple([round_float(v if isinstance(v, float) else float(v), element) for v in values])
        exact = tuple([(i, v.bits) for i, v in enumerate(values) if v.__class__ is ExactFloat])
        packed = struct.pack(f"<{len(values)}d", *values)
        return values, (packed, exact) if exact else packed
    part = getattr(element, "element", None)
    if part is not None:  # complex
        reals, real_identity = _normal(tuple([v[0] for v in values]), part)
        imaginaries, imaginary_identity = _normal(tuple([v[1] for v in values]), part)
        return tuple(zip(reals, imaginaries)), (real_identity, imaginary_identity)
    values = tuple([IntegerAttr(v, element).value for v in values])
    return values, values


def _is_repeated(values: tuple[Any, ...], identity: Any, element: Type) -> bool:
    """Whether all values are the first, to the last bit."""
    first = values[0]
    if first == first and values.count(first) != len(values):
        return False
    return bool(_normal(values[:1] * len(values), element)[1] == identity)


def _formatter(element: Type) -> Callable[[Any], str]:
    """How one element is written."""
    if isinstance(element, FloatType):
        return lambda v: format_float(v, element)
    part = getattr(element, "element", None)
    if part is not None:
        one = _formatter(part)
        return lambda v: f"({one(v[0])},{one(v[1])})"
    return (lambda v: "true" if v else "false") if element is i1 else integer_text


def nested_shape(sizes: list[int]) -> tuple[int, ...]:
    """The shape that brackets of these sizes, from the outside in, have; those never met are of no size."""
    return tuple(sizes[: sizes.index(-1)] if -1 in sizes else sizes)


def nested(items: list[str], shape: tuple[int, ...]) -> str:
    """Texts in row-major order, in the brackets of the shape."""
    if not items:
        return ""
    for size in reversed(shape):
        items = [f"[{', '.join(items[i : i + size])}]" for i in range(0, len(items), size)]
    return items[0]


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
