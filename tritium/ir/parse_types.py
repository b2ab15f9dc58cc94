"""Reading types from MLIR text, and the aliases that stand for types, attributes and locations."""

from __future__ import annotations

import re
from typing import Any

from ..support import Location
from .attributes import IntegerAttr
from .builtin_attributes import AffineAttr, StridedLayoutAttr
from .builtin_types import ComplexType, DynamicTensorType, MemRefType, ScalableVectorType, TupleType
from .interning import Attribute
from .lexer import BLANK, Cursor
from .measure import Measure
from .registry import load_dialect
from .types import (
    DIALECT_TYPES,
    FLOATS,
    FunctionType,
    IndexType,
    IntegerType,
    NoneType,
    OpaqueType,
    TensorType,
    Type,
    VectorType,
)

__all__ = ["TypeParser"]

# A type as it mostly stands: a name, brackets nested up to four deep. Only a text seen before is taken from the cache,
# so it does no harm that the expression can stop too early.
_whole_type = re.compile(
    r"!?[A-Za-z_][\w$.]*(?:<[^<>\n]*(?:<[^<>\n]*(?:<[^<>\n]*(?:<[^<>\n]*>[^<>\n]*)*>[^<>\n]*)*>[^<>\n]*)*>)?", re.ASCII
).match
_integer_type = re.compile(r"([su]?)i(\d+)", re.ASCII).fullmatch
_dimensions = re.compile(r"\s*((?:(?:\d+|\?|\*|\[\s*\d+\s*\])\s*x\s*)*)", re.ASCII).match
_dimension = re.compile(r"\d+|\?|\*|\[\s*\d+\s*\]", re.ASCII).findall
_definition = re.compile(r"^[ \t]*([#!][A-Za-z_][\w$.]*)[ \t]*=" + BLANK, re.MULTILINE | re.ASCII)
#: What a text may nest in each other: brackets, braces of regions; and what aliases may add to its length.
NESTED = 40
EXPANDED = 1 << 26


class TypeParser(Cursor):
    """A cursor that reads types; aliases may be defined before or after their use."""

    def __init__(self, text: str, filename: str, allow_unregistered: bool = False, first_line: int = 1) -> None:
        super().__init__(text, filename, first_line)
        self.allow_unregistered = allow_unregistered
        self._types: dict[str, Type] = {}
        self._aliases: dict[str, Any] = {}
        self._ends: dict[str, int] = {}
        self._definitions: dict[str, int] = {}
        for m in _definition.finditer(self.text):
            self._definitions.setdefault(m[1], m.end())
        self._stepped: set[str] = set()
        self._measure = Measure()
        self._nested = 0
        self._expanded = 0

    def attribute(self) -> Attribute:
        """An attribute of any kind."""
        raise NotImplementedError

    def location(self) -> Location:
        """`loc(…)`"""
        raise NotImplementedError

    def enter(self) -> None:
        """Note that what is read from here to `leave` stands inside of something; only so deep can a text go."""
        self._nested += 1
        if self._nested > NESTED:
            raise self.error("this is nested too deeply")

    def leave(self) -> None:
        """The end of what `enter` began."""
        self._nested -= 1

    # -- aliases --------------------------------------------------------------------------------------------------

    def alias(self, name: str) -> Any:
        """What `#name` or `!name` is defined as: an attribute, a location or a type."""
        if name not in self._aliases:
            at = self._definitions.get(name)
            if at is None:
                raise self.error(f"the alias '{name}' is not defined")
            if name in self._ends:
                raise self.error(f"the alias '{name}' is defined by itself")
            self._ends[name] = 0
            back, self.pos = self.pos, at
            if name[0] == "!":
                self._aliases[name] = self.type()
            else:
                self._aliases[name] = self.location() if self.peek("loc") else self.attribute()
            self._ends[name], self.pos = self.pos, back
            if not self._measure.allows(self._aliases[name]):
                raise self.error(f"'{name}' is made of too much", at)
        value = self._aliases[name]
        if not isinstance(value, Location):
            self._expanded += self._measure.length(value)
            if self._expanded > EXPANDED:
                raise self.error(f"'{name}' and other aliases expand to too much text")
        return value

    def alias_definition(self) -> None:
        """Step over `#name = …` at the top level."""
        at = self.pos
        name = self.alias_name()
        self.expect("=")
        if name in self._stepped:
            raise self.error(f"the alias '{name}' is defined twice", at)
        self._stepped.add(name)
        if self._definitions.get(name) != self.pos and name in self._aliases:
            raise self.error(f"the alias '{name}' is defined twice", at)
        self._definitions[name] = self.pos
        self.alias(name)
        self.pos = self._ends[name]

    # -- types ----------------------------------------------------------------------------------------------------

    def type(self) -> Type:
        """A type."""
        m = _whole_type(self.text, self.pos)
        if m is not None:
            known = self._types.get(m[0])
            if known is not None:
                self.skip_to(m.end())
                return known
        start = self.pos
        expanded = self._expanded
        self.enter()
        ty = self._type()
        self.leave()
        if self._expanded - expanded < 1000:
            self._types[self.text[start : self.pos].rstrip()] = ty
        return ty

    def _type(self) -> Type:
        ch = self.text[self.pos]
        if ch == "(":
            inputs, results = self.functional_type()
            return FunctionType(tuple(inputs), tuple(results))
        if ch == "!":
            return self._dialect_type()
        at = self.pos
        name = self.word("a type")
        if (m := _integer_type(name)) is not None:
            return IntegerType(int(m[2]), m[1])
        if name in FLOATS:
            return FLOATS[name]
        if name == "tensor":
            return self._tensor(at)
        if name == "index":
            return IndexType()
        if name == "none":
            return NoneType()
        reader = _READERS.get(name)
        if reader is None:
            raise self.error(f"'{name}' is not a type", at, hint="types are i32, f16, tensor<8xf32>, !tt.ptr<f32>, …")
        ty: Type = reader(self, at)
        return ty

    def shaped(self, name: str, at: int) -> Any:
        """`<8x4xf32, #encoding>`: the text after `tensor` or `vector`."""
        return self._tensor(at) if name == "tensor" else self._vector(at)

    def _shape(self) -> list[str]:
        """`4x?x`: the dimensions up to the element type, as written."""
        m = _dimensions(self.text, self.pos)
        assert m is not None
        if m.end() - m.start() > 10_000:
            raise self.error("these are too many dimensions")
        self.skip_to(m.end())
        return _dimension(m[1])

    def _dimension(self, text: str, at: int) -> int | None:
        """A dimension; None if it is not known."""
        if not text.isdigit():
            if text == "?":
                return None
            raise self.error(f"'{text}' is no dimension here", at)
        if len(text) > 19 or int(text) >> 63:
            raise self.error("this dimension is too large", at)
        return int(text)

    def dimensions(self) -> tuple[int, ...]:
        """`128x64x`, as it stands before the type of an element; () if there is none."""
        at = self.pos
        shape = [self._dimension(d, at) for d in self._shape()]
        if None in shape:
            raise self.error("dimensions must be known here", at)
        return tuple(shape)  # type: ignore[arg-type]

    def _tensor(self, at: int) -> Type:
        self.expect("<")
        dims = self._shape()
        shape = None if dims == ["*"] else tuple([self._dimension(d, at) for d in dims])
        element = self._element_type()
        encoding = self.attribute() if self.accept(",") else None
        self.expect(">")
        if shape is None or None in shape:
            return DynamicTensorType(shape, element, encoding)
        try:
            return TensorType(shape, element, encoding)  # type: ignore[arg-type]
        except ValueError as error:
            raise self.error(str(error), at) from None

    def _element_type(self) -> Type:
        at = self.pos
        element = self.type()
        if isinstance(element, (TensorType, DynamicTensorType, MemRefType, FunctionType, TupleType, NoneType)):
            raise self.error(f"{element} is no type of elements", at)
        return element

    def _vector(self, at: int) -> Type:
        self.expect("<")
        dims = self._shape()
        scalable = tuple([d[0] == "[" for d in dims])
        shape: Any = tuple([self._dimension(d.strip("[] "), at) for d in dims])
        element = self._element_type()
        self.expect(">")
        if None in shape:
            raise self.error("a vector has no unknown dimension", at)
        try:
            return ScalableVectorType(shape, scalable, element) if any(scalable) else VectorType(shape, element)
        except ValueError as error:
            raise self.error(str(error), at) from None

    def _memref(self, at: int) -> Type:
        self.expect("<")
        dims = self._shape()
        shape = None if dims == ["*"] else tuple([self._dimension(d, at) for d in dims])
        element = self.type()
        layout = space = None
        while self.accept(","):
            attr = self.attribute()
            if isinstance(attr, (AffineAttr, StridedLayoutAttr)) and layout is None and space is None:
                layout = attr
            elif space is None:
                space = attr
            else:
                raise self.error("a memref has one layout and one memory space", at)
        self.expect(">")
        if isinstance(space, IntegerAttr) and not space.value:
            space = None
        return MemRefType(shape, element, layout, space)

    def _complex(self, at: int) -> Type:
        self.expect("<")
        element = self.type()
        self.expect(">")
        try:
            return ComplexType(element)
        except ValueError as error:
            raise self.error(str(error), at) from None

    def _tuple(self, at: int) -> Type:
        self.expect("<")
        return TupleType(tuple(self.comma_list(self.type, ">")))

    def _dialect_type(self) -> Type:
        at = self.pos
        name = self.alias_name()
        parse = DIALECT_TYPES.get(name[1:])
        if parse is not None:
            return parse(self)
        if name in self._definitions:
            found: Type = self.alias(name)
            return found
        if load_dialect(name[1:]) and (parse := DIALECT_TYPES.get(name[1:])) is not None:
            return parse(self)
        if (long := self._long_form(name, DIALECT_TYPES)) is not None:
            return long  # type: ignore[no-any-return]
        if not self.allow_unregistered:
            raise self.error(f"the type '{name}' is not known", at)
        return OpaqueType(name + (self.balanced() if self.text[self.pos] == "<" else ""))

    def _long_form(self, dialect: str, registry: dict[str, Any]) -> Any:
        """`!tt<ptr<f32>>`: the dialect's name apart; None if that is not next."""
        if "." in dialect or not self.peek("<"):
            return None
        start = self.pos
        self.expect("<")
        at_word = self.at_word()
        name = f"{dialect[1:]}.{at_word}"
        if at_word is None or (name not in registry and not (load_dialect(name) and name in registry)):
            self.pos = start
            return None
        self.word()
        value = registry[name](self)
        self.expect(">")
        return value

    def types(self) -> list[Type]:
        """`i32, f32`: at least one."""
        out = [self.type()]
        while self.accept(","):
            out.append(self.type())
        return out

    def result_types(self) -> list[Type]:
        """`f32` or `(f32, i32)` or `()`."""
        if self.accept("("):
            return self.comma_list(self.type, ")")
        return [self.type()]

    def functional_type(self) -> tuple[list[Type], list[Type]]:
        """`(i32) -> f32`"""
        self.expect("(")
        inputs = self.comma_list(self.type, ")")
        self.expect("->")
        return inputs, self.result_types()


_READERS: dict[str, Any] = {
    "complex": TypeParser._complex,
    "memref": TypeParser._memref,
    "tuple": TypeParser._tuple,
    "vector": TypeParser._vector,
}
