"""Reading numbers, and what holds many of them, from MLIR text: `dense<…>`, `array<…>`."""

from __future__ import annotations

import re
from typing import Any

from .attributes import DenseArrayAttr, DenseElementsAttr, FloatAttr, IntegerAttr, nested_shape, storage_bytes
from .builtin_attributes import DenseResourceAttr, DenseStringAttr
from .builtin_types import ComplexType
from .floats import bits_float
from .interning import Attribute
from .parse_types import TypeParser
from .types import FloatType, IndexType, IntegerType, ShapedType, TensorType, Type, VectorType, f64, i1, i64

__all__ = ["NumberParser"]

_hex_float = re.compile(r"0x[0-9A-Fa-f]+").fullmatch
#: Python takes its time with longer decimal numbers, and refuses those.
_DIGITS = 4000


class NumberParser(TypeParser):
    """A cursor that reads types and numbers."""

    def _number(self) -> Attribute:
        at = self.pos
        sign, digits = self.number()
        ty: Type = f64 if "." in digits else i64
        if self.accept(":"):
            ty = self.type()
        value = self._scalar(sign, digits, ty, at)
        return FloatAttr(value, ty) if isinstance(ty, FloatType) else IntegerAttr(int(value), ty)

    def _scalar(self, sign: str, digits: str, ty: Type, at: int) -> int | float:
        """A number of the element type `ty`; hex digits of a float are its bits."""
        if isinstance(ty, FloatType):
            if _hex_float(digits):
                if len(digits) > 40 or int(digits, 16) >> ty.width:
                    raise self.error(f"this number has more bits than {ty}", at)
                value = bits_float(int(digits, 16), ty)
                return -value if sign else value
            if "." not in digits:
                raise self.error(f"a number of type {ty} needs a decimal point", at, hint="write 1.0 for 1")
            return float(sign + digits)
        if not isinstance(ty, (IntegerType, IndexType)):
            raise self.error(f"{ty} is no type of a number", at)
        if "." in digits:
            raise self.error(f"a number of type {ty} has no decimal point", at)
        if len(digits) > _DIGITS:
            raise self.error("this number has too many digits", at)
        number = int(sign + digits, 0) if digits.startswith("0x") else int(sign + digits)
        least = 0 if not ty.width or getattr(ty, "signedness", "") == "u" else -(1 << (ty.width - 1))
        if not least <= number < 1 << ty.width:
            raise self.error(f"{sign}{digits[:40]}{'…' * (len(digits) > 40)} does not fit into {ty}", at)
        return number

    def _element(self, ty: Type) -> Any:
        if ty is i1 and (word := self.accept_any("true", "false")) is not None:
            return int(word == "true")
        at = self.pos
        if isinstance(ty, ComplexType):
            self.expect("(")
            real = self._element(ty.element)
            self.expect(",")
            imaginary = self._element(ty.element)
            self.expect(")")
            return real, imaginary
        return self._scalar(*self.number(), ty, at)

    # dense<…> stands before its type: the body is skipped, read once the type is known.

    def _dense(self, at: int) -> Attribute:
        start = self.pos
        if self.text[start] != "<":
            raise self.expected("'<'")
        self.balanced()
        self.expect(":")
        ty_at = self.pos
        ty = self.type()
        if not isinstance(ty, (TensorType, VectorType)):
            raise self.error(f"dense<…> needs a tensor or vector type, not {ty}", ty_at)
        end, self.pos = self.pos, start
        self.expect("<")
        if not isinstance(ty.element, (FloatType, IntegerType, IndexType, ComplexType)):
            attr: Attribute = self._dense_strings(ty, at)
        elif self.text[self.pos] == '"':
            attr = DenseElementsAttr(tuple(self._raw_bytes(ty)), ty)
        else:
            attr = DenseElementsAttr(tuple(self._elements(ty, at, lambda: self._element(ty.element))), ty)
        self.expect(">")
        self.pos = end
        return attr

    def _dense_strings(self, ty: ShapedType, at: int) -> Attribute:
        return DenseStringAttr(tuple(self._elements(ty, at, self.string)), ty)

    def _elements(self, ty: ShapedType, at: int, element: Any) -> list[Any]:
        """Values in row-major order: none, one for all, or as many as the type has in brackets of its shape."""
        if self.peek(">"):
            if ty.numel:
                raise self.error(f"no elements for {ty}", at)
            return []
        at = self.pos
        values: list[Any] = []
        if self.text[self.pos] != "[":
            return [element()]
        # The opening and closing brackets in textual order say what the shape is.
        depth, counts, widths = 0, [0], [-1]
        while True:
            if self.accept("["):
                depth += 1
                if depth > ty.rank:
                    raise self.error(f"the elements have more brackets than {ty} has dimensions", at)
                counts[depth:] = [0]
                if len(widths) <= depth:
                    widths.append(-1)
                if self.text[self.pos] != "]":
                    continue
            else:
                if depth < ty.rank:
                    raise self.error(f"the elements have less brackets than {ty} has dimensions", at)
                values.append(element())
                counts[depth] += 1
            while self.accept("]"):
                if widths[depth] not in (-1, counts[depth]):
                    raise self.error("the rows have different lengths", at)
                widths[depth] = counts[depth]
                depth -= 1
                counts[depth] += 1
                if not depth:
                    shape = nested_shape(widths[1:])
                    if shape != ty.shape[: len(shape)] or (len(shape) < ty.rank and 0 not in shape):
                        raise self.error(f"the elements have the shape {list(shape)}, the type is {ty}", at)
                    return values
            self.expect(",")

    def _raw_bytes(self, ty: ShapedType) -> list[Any]:
        at = self.pos
        text = self.string()
        parts = 2 if isinstance(ty.element, ComplexType) else 1
        element: Any = ty.element.element if isinstance(ty.element, ComplexType) else ty.element
        if not text.startswith("0x"):
            raise self.error('expected elements, or "0x…" with their bytes', at)
        try:
            data = bytes.fromhex(text[2:])
        except ValueError:
            raise self.error("odd digits in the bytes of the elements", at) from None
        size = storage_bytes(element)
        if len(data) not in (size * parts, ty.numel * size * parts):
            raise self.error(f"{len(data)} bytes for {ty}", at)
        mask = (1 << element.width) - 1
        numbers: list[Any] = [int.from_bytes(data[i : i + size], "little") & mask for i in range(0, len(data), size)]
        if element is i1:
            numbers = [int(byte != 0) for byte in data]
        elif isinstance(element, FloatType):
            numbers = [bits_float(n, element) for n in numbers]
        return numbers if parts == 1 else list(zip(numbers[::2], numbers[1::2]))

    def _dense_array(self, at: int) -> Attribute:
        self.expect("<")
        element_at = self.pos
        element = self.type()
        width = getattr(element, "width", 0)
        if not isinstance(element, (FloatType, IntegerType)) or (width % 8 and element is not i1) or not width:
            raise self.error(f"array<…> has no elements of type {element}", element_at)
        values = []
        if self.accept(":"):
            values = self.comma_list(lambda: self._element(element), ">")
            if not values:
                raise self.error("expected a number after the colon", at)
        else:
            self.expect(">")
        return DenseArrayAttr(tuple(values), element)

    def _dense_resource(self, at: int) -> Attribute:
        self.expect("<")
        name = self.string() if self.text[self.pos] == '"' else self.word("the name of a resource")
        self.expect(">")
        self.expect(":")
        return DenseResourceAttr(name, self.type())
