"""The rarer types of the builtin dialect: what Triton's programs hardly have, but MLIR's text may hold.

Operations of tiles work on `TensorType` and `VectorType`, whose shapes are static; shapes that are not have types of
their own here, so that no pass meets one by accident.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .types import FloatType, IntegerType, Type

if TYPE_CHECKING:
    from .interning import Attribute

__all__ = [
    "ComplexType",
    "DynamicTensorType",
    "MemRefType",
    "ScalableVectorType",
    "TupleType",
]

#: A dimension known only when the program runs is None; a shape of unknown rank is None itself.
Shape = tuple["int | None", ...]


def _dimensions(shape: Shape | None) -> str:
    if shape is None:
        return "*x"
    return "".join(["?x" if d is None else f"{d}x" for d in shape])


class ComplexType(Type):
    """`complex<f32>`: a pair of numbers."""

    __slots__ = ("element",)
    element: Type

    def __new__(cls, element: Type) -> ComplexType:
        found = cls._table.get(element)
        if found is not None:
            return found
        if not isinstance(element, (FloatType, IntegerType)):
            raise ValueError(f"no complex numbers are made of {element}")
        self = object.__new__(cls)
        self.element = element
        return cls._table.setdefault(element, self)

    def spell(self, texts: dict[Any, str]) -> str:
        return f"complex<{texts[self.element]}>"


class TupleType(Type):
    """`tuple<i32, f32>`"""

    __slots__ = ("elements",)
    elements: tuple[Type, ...]

    def __new__(cls, elements: tuple[Type, ...]) -> TupleType:
        elements = tuple(elements)
        found = cls._table.get(elements)
        if found is not None:
            return found
        self = object.__new__(cls)
        self.elements = elements
        return cls._table.setdefault(elements, self)

    @property
    def alias_name(self) -> str | None:  # type: ignore[override]
        """Long tuples have an alias."""
        return "tuple" if len(self.elements) > 16 else None

    def spell(self, texts: dict[Any, str]) -> str:
        return f"tuple<{', '.join([texts[ty] for ty in self.elements])}>"


class DynamicTensorType(Type):
    """`tensor<?x4xf32>` or `tensor<*xf32>`: some dimension, or their number, is not known."""

    __slots__ = ("element", "encoding", "shape")
    shape: Shape | None
    element: Type
    encoding: Attribute | None

    def __new__(cls, shape: Shape | None, element: Type, encoding: Attribute | None = None) -> DynamicTensorType:
        key = (shape, element, encoding)
        found = cls._table.get(key)
        if found is not None:
            return found
        self = object.__new__(cls)
        self.shape, self.element, self.encoding = key
        return cls._table.setdefault(key, self)

    def spell(self, texts: dict[Any, str]) -> str:
        encoding = f", {texts[self.encoding]}" if self.encoding is not None else ""
        return f"tensor<{_dimensions(self.shape)}{texts[self.element]}{encoding}>"


class MemRefType(Type):
    """`memref<4x?xf32, strided<[?, 1]>, 3>`: a piece of memory, how its elements lie in it, and which memory it is."""

    __slots__ = ("element", "layout", "shape", "space")
    shape: Shape | None
    element: Type
    layout: Attribute | None
    space: Attribute | None

    def __new__(
        cls, shape: Shape | None, element: Type, layout: Attribute | None = None, space: Attribute | None = None
    ) -> MemRefType:
        key = (shape, element, layout, space)
        found = cls._table.get(key)
        if found is not None:
            return found
        self = object.__new__(cls)
        self.shape, self.element, self.layout, self.space = key
        return cls._table.setdefault(key, self)

    def spell(self, texts: dict[Any, str]) -> str:
        parts = [_dimensions(self.shape) + texts[self.element]]
        if self.layout is not None:
            parts.append(texts[self.layout])
        if self.space is not None:
            parts.append(self.space.spell_briefly(texts))
        return f"memref<{', '.join(parts)}>"


class ScalableVectorType(Type):
    """`vector<[4]x2xf32>`: dimensions in brackets are multiples of that number, unknown until the program runs."""

    __slots__ = ("element", "scalable", "shape")
    shape: tuple[int, ...]
    scalable: tuple[bool, ...]
    element: Type

    def __new__(cls, shape: tuple[int, ...], scalable: tuple[bool, ...], element: Type) -> ScalableVectorType:
        key = (tuple(shape), tuple(scalable), element)
        found = cls._table.get(key)
        if found is not None:
            return found
        if any(d < 1 for d in shape):
            raise ValueError(f"vector shape {tuple(shape)} needs positive integers")
        self = object.__new__(cls)
        self.shape, self.scalable, self.element = key
        return cls._table.setdefault(key, self)

    def spell(self, texts: dict[Any, str]) -> str:
        dims = "".join([f"[{d}]x" if s else f"{d}x" for d, s in zip(self.shape, self.scalable)])
        return f"vector<{dims}{texts[self.element]}>"
