"""Types: interned, immutable values, so that equality is identity.

>>> TensorType((4, 8), f32) is TensorType((4, 8), f32)
True
>>> print(TensorType((4, 8), f32))
tensor<4x8xf32>
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..support.limits import MAX_TENSOR_ELEMENTS
from .interning import Attribute, Interned

__all__ = [
    "DIALECT_TYPES",
    "FLOATS",
    "OVERSIZED_TENSORS",
    "FloatType",
    "FunctionType",
    "IndexType",
    "IntegerType",
    "NoneType",
    "OpaqueType",
    "ShapedType",
    "TensorType",
    "Type",
    "VectorType",
    "bf16",
    "element_type",
    "f16",
    "f32",
    "f64",
    "i1",
    "i8",
    "i16",
    "i32",
    "i64",
    "index",
    "shape_of",
    "with_element",
]


class Type(Interned):
    """Base of all types. `str(type)` is its MLIR text."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


DIALECT_TYPES: dict[str, Callable[[Any], Type]] = {}
"""How the types `!dialect.mnemonic…` are read: by mnemonic, called with the parser after the mnemonic."""


class OpaqueType(Type):
    """A type of a dialect that is not loaded, kept as text: `!dialect.body`."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> OpaqueType:
        found = cls._table.get(text)
        if found is not None:
            return found
        self = object.__new__(cls)
        self.text = text
        return cls._table.setdefault(text, self)

    def spell(self, texts: dict[Any, str]) -> str:
        return self.text.replace("\1", "")


class IntegerType(Type):
    """`i32`, or with a signedness `si32` / `ui32`; `width` in bits."""

    __slots__ = ("signedness", "width")
    width: int
    signedness: str

    def __new__(cls, width: int, signedness: str = "") -> IntegerType:
        key = (width, signedness)
        found = cls._table.get(key)
        if found is not None:
            return found
        if not 0 <= width < 1 << 24 or signedness not in ("", "s", "u"):
            raise ValueError(f"no integer type of {width} bits with signedness {signedness!r}")
        self = object.__new__(cls)
        self.width = width
        self.signedness = signedness
        return cls._table.setdefault(key, self)

    def spell(self, texts: dict[Any, str]) -> str:
        return f"{self.signedness}i{self.width}"


class IndexType(Type):
    """`index`: an integer as wide as an address."""

    __slots__ = ()
    width = 64

    def __new__(cls) -> IndexType:
        found = cls._table.get(())
        return found if found is not None else cls._table.setdefault((), object.__new__(cls))

    def spell(self, texts: dict[Any, str]) -> str:
        return "index"


class FloatType(Type):
    """A floating-point type by its MLIR name; `width` in bits, `mantissa` stored bits, `exponent` bits."""

    __slots__ = ("exponent", "mantissa", "name", "width")
    name: str
    width: int
    mantissa: int
    exponent: int

    def __new__(cls, name: str, width: int = 0, exponent: int = 0, mantissa: int = 0) -> FloatType:
        found = cls._table.get(name)
        if found is not None:
            return found
        if not width:
            raise ValueError(f"unknown float type {name!r}")
        self = object.__new__(cls)
        self.name, self.width, self.exponent, self.mantissa = name, width, exponent, mantissa
        return cls._table.setdefault(name, self)

    def spell(self, texts: dict[Any, str]) -> str:
        return self.name


class NoneType(Type):
    """`none`: the unit type."""

    __slots__ = ()

    def __new__(cls) -> NoneType:
        found = cls._table.get(())
        return found if found is not None else cls._table.setdefault((), object.__new__(cls))

    def spell(self, texts: dict[Any, str]) -> str:
        return "none"


class ShapedType(Type):
    """What tensors and vectors share: a static `shape` and an `element` type."""

    __slots__ = ()
    shape: tuple[int, ...]
    element: Type

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def numel(self) -> int:
        """Number of elements; 1 for rank 0."""
        n = 1
        for d in self.shape:
            n *= d
        return n


OVERSIZED_TENSORS: set[Type] = set()
"""The types of tensors that have more elements than a verified program may; most processes make none."""


def padded_elements(shape: tuple[int, ...]) -> int:
    """The elements of a tensor whose sizes are rounded up to powers of two.

    >>> padded_elements((3, 100))
    512
    """
    return math.prod(1 << (size - 1).bit_length() if size > 0 else 0 for size in shape)


class TensorType(ShapedType):
    """`tensor<4x8xf32, #encoding>`; `encoding` is a layout attribute or None."""

    __slots__ = ("element", "encoding", "shape")
    encoding: Attribute | None

    def __new__(cls, shape: tuple[int, ...], element: Type, encoding: Attribute | None = None) -> TensorType:
        key = (shape, element, encoding)
        found = cls._table.get(key)
        if found is not None:
            return found
        shape = tuple(shape)
        if any(not isinstance(d, int) or d < 0 for d in shape):
            raise ValueError(f"tensor shape {shape} needs non-negative integers")
        self = object.__new__(cls)
        self.shape, self.element, self.encoding = shape, element, encoding
        if padded_elements(shape) > MAX_TENSOR_ELEMENTS:
            OVERSIZED_TENSORS.add(self)
        return cls._table.setdefault((shape, element, encoding), self)

    def spell(self, texts: dict[Any, str]) -> str:
        dims = "".join(f"{d}x" for d in self.shape)
        tail = f", {texts[self.encoding]}" if self.encoding is not None else ""
        return f"tensor<{dims}{texts[self.element]}{tail}>"


class VectorType(ShapedType):
    """`vector<16xf32>`: a value in machine registers."""

    __slots__ = ("element", "shape")

    def __new__(cls, shape: tuple[int, ...], element: Type) -> VectorType:
        key = (shape, element)
        found = cls._table.get(key)
        if found is not None:
            return found
        shape = tuple(shape)
        if any(not isinstance(d, int) or d < 1 for d in shape):
            raise ValueError(f"vector shape {shape} needs positive integers")
        self = object.__new__(cls)
        self.shape, self.element = shape, element
        return cls._table.setdefault((shape, element), self)

    def spell(self, texts: dict[Any, str]) -> str:
        return f"vector<{''.join(f'{d}x' for d in self.shape)}{texts[self.element]}>"


class FunctionType(Type):
    """`(i32, f32) -> f32`"""

    __slots__ = ("inputs", "results")
    inputs: tuple[Type, ...]
    results: tuple[Type, ...]

    def __new__(cls, inputs: tuple[Type, ...], results: tuple[Type, ...]) -> FunctionType:
        inputs, results = tuple(inputs), tuple(results)
        found = cls._table.get((inputs, results))
        if found is not None:
            return found
        self = object.__new__(cls)
        self.inputs, self.results = inputs, results
        return cls._table.setdefault((inputs, results), self)

    def spell(self, texts: dict[Any, str]) -> str:
        inputs = ", ".join([texts[ty] for ty in self.inputs])
        results = ", ".join([texts[ty] for ty in self.results])
        if len(self.results) != 1 or isinstance(self.results[0], FunctionType):
            results = f"({results})"
        return f"({inputs}) -> {results}"


i1, i8, i16, i32, i64 = map(IntegerType, (1, 8, 16, 32, 64))
index = IndexType()
f16 = FloatType("f16", 16, 5, 10)
bf16 = FloatType("bf16", 16, 8, 7)
f32 = FloatType("f32", 32, 8, 23)
f64 = FloatType("f64", 64, 11, 52)
for _name, _width, _exponent, _mantissa in (
    ("f8E4M3FN", 8, 4, 3),
    ("f8E5M2", 8, 5, 2),
    ("f8E4M3FNUZ", 8, 4, 3),
    ("f8E5M2FNUZ", 8, 5, 2),
    ("f8E4M3B11FNUZ", 8, 4, 3),
    ("f8E4M3", 8, 4, 3),
    ("f8E3M4", 8, 3, 4),
    ("f8E8M0FNU", 8, 8, 0),
    ("f6E3M2FN", 6, 3, 2),
    ("f6E2M3FN", 6, 2, 3),
    ("f4E2M1FN", 4, 2, 1),
    ("tf32", 19, 8, 10),
    ("f80", 80, 15, 64),
    ("f128", 128, 15, 112),
):
    FloatType(_name, _width, _exponent, _mantissa)
FLOATS: dict[str, FloatType] = FloatType._table


def element_type(ty: Type) -> Type:
    """The element type of a shaped type; a scalar is its own."""
    return ty.element if isinstance(ty, ShapedType) else ty


def shape_of(ty: Type) -> tuple[int, ...]:
    """The shape of a shaped type; () for a scalar."""
    return ty.shape if isinstance(ty, ShapedType) else ()


def with_element(ty: Type, element: Type) -> Type:
    """`ty` with its element type replaced; a scalar becomes `element`."""
    if isinstance(ty, TensorType):
        return TensorType(ty.shape, element, ty.encoding)
    if isinstance(ty, VectorType):
        return VectorType(ty.shape, element)
    return element
