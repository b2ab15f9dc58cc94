"""Reading types, attributes and locations from MLIR text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ..support import UNKNOWN, CallSiteLoc, FileLineColLoc, FusedLoc, Location, NameLoc
from .attributes import (
    DIALECT_ATTRIBUTES,
    UNIT,
    ArrayAttr,
    Attribute,
    DenseArrayAttr,
    DenseElementsAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    OpaqueAttr,
    StringAttr,
    SymbolRefAttr,
    TypeAttr,
    bool_attr,
)
from .floats import bits_float
from .lexer import Cursor
from .registry import load_dialect
from .types import (
    DIALECT_TYPES,
    FLOATS,
    FloatType,
    FunctionType,
    IndexType,
    IntegerType,
    NoneType,
    OpaqueType,
    ShapedType,
    TensorType,
    Type,
    VectorType,
    f64,
    i1,
    i64,
)

__all__ = ["AttributeParser"]

# A type as it mostly stands: a name, brackets nested up to four deep. Only a text seen before is taken from the cache,
# so it does no harm that the expression can stop too early.
_whole_type = re.compile(
    r"!?[A-Za-z_][\w$.]*(?:<[^<>]*(?:<[^<>]*(?:<[^<>]*(?:<[^<>]*>[^<>]*)*>[^<>]*)*>[^<>]*)*>)?"
).match
_integer_type = re.compile(r"([su]?)i(\d+)").fullmatch
_dimensions = re.compile(r"\s*((?:\d+\s*x\s*)*)").match
_definition = re.compile(r"^[ \t]*([#!][A-Za-z_][\w$.]*)[ \t]*=\s*", re.MULTILINE)
_comma = re.compile(r"\s*,\s*")
_hex_float = re.compile(r"0x[0-9A-Fa-f]+").fullmatch


class AttributeParser(Cursor):
    """A cursor that reads types, attributes and locations; aliases may be defined before or after their use."""

    def __init__(self, text: str, filename: str, allow_unregistered: bool = False) -> None:
        super().__init__(text, filename)
        self.allow_unregistered = allow_unregistered
        self._types: dict[str, Type] = {}
        self._aliases: dict[str, Any] = {}
        self._ends: dict[str, int] = {}
        self._definitions = {m[1]: m.end() for m in _definition.finditer(self.text)}

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
        return self._aliases[name]

    def alias_definition(self) -> None:
        """Step over `#name = …` at the top level."""
        name = self.alias_name()
        self.expect("=")
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
        ty = self._type()
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
        if name == "index":
            return IndexType()
        if name == "none":
            return NoneType()
        if name in ("tensor", "vector"):
            return self.shaped(name, at)
        raise self.error(f"'{name}' is not a type", at, hint="types are i32, f16, tensor<8xf32>, !tt.ptr<f32>, …")

    def shaped(self, name: str, at: int) -> Any:
        """`<8x4xf32, #encoding>`: what stands behind `tensor` or `vector`."""
        self.expect("<")
        if self.text[self.pos] in "?*[":
            raise self.error("dynamic and scalable shapes are not supported")
        shape = self.dimensions()
        element = self.type()
        encoding = self.attribute() if name == "tensor" and self.accept(",") else None
        self.expect(">")
        try:
            return TensorType(shape, element, encoding) if name == "tensor" else VectorType(shape, element)
        except ValueError as error:
            raise self.error(str(error), at) from None

    def dimensions(self) -> tuple[int, ...]:
        """`128x64x`, as it stands before the type of an element; () if there is none."""
        m = _dimensions(self.text, self.pos)
        assert m is not None
        self.skip_to(m.end())
        return tuple(int(d) for d in m[1].split("x") if d.strip())

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
        if not self.allow_unregistered:
            raise self.error(f"the type '{name}' is not known", at)
        return OpaqueType(name + (self.balanced() if self.text[self.pos] == "<" else ""))

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

    # -- attributes -----------------------------------------------------------------------------------------------

    def attr_dict(self, keyword: str = "") -> dict[str, Attribute]:
        """`{a = 1 : i32, b}`, empty if none stands here; with a keyword only behind that."""
        if keyword:
            if not self.accept(keyword):
                return {}
        elif self.text[self.pos] != "{":
            return {}
        self.expect("{")
        out: dict[str, Attribute] = {}
        while not self.accept("}"):
            if out:
                self.expect(",")
            at = self.pos
            name = self.string() if self.text[self.pos] == '"' else self.word("the name of an attribute")
            if name in out:
                raise self.error(f"the attribute '{name}' is given twice", at)
            out[name] = self.attribute() if self.accept("=") else UNIT
        return out

    def attribute(self) -> Attribute:
        """An attribute of any kind."""
        ch = self.text[self.pos]
        reader = _BY_CHARACTER.get(ch)
        if reader is not None:
            return reader(self)
        if ch.isdigit() or ch == "-":
            return self._number()
        at = self.pos
        if self.accept("true"):
            return bool_attr(True)
        if self.accept("false"):
            return bool_attr(False)
        if self.accept("unit"):
            return UNIT
        if self.accept("dense"):
            return self._dense(at)
        if self.accept("array"):
            return self._dense_array(at)
        if self.peek("affine_map") or self.peek("affine_set"):
            return OpaqueAttr(self.word() + self.balanced())
        return TypeAttr(self.type())

    def _string(self) -> Attribute:
        return StringAttr(self.string())

    def _array(self) -> Attribute:
        self.expect("[")
        return ArrayAttr(tuple(self.comma_list(self.attribute, "]")))

    def _dictionary(self) -> Attribute:
        return DictionaryAttr(self.attr_dict())

    def _symbol(self) -> Attribute:
        name = self.symbol_name()
        if self.peek("::"):
            raise self.error("nested symbol references are not supported")
        return SymbolRefAttr(name)

    def _type_attr(self) -> Attribute:
        return TypeAttr(self.type())

    def _dialect_attribute(self) -> Attribute:
        name = self.alias_name()
        parse = DIALECT_ATTRIBUTES.get(name[1:])
        if parse is not None:
            return parse(self)
        if name in self._definitions:
            found: Attribute = self.alias(name)
            return found
        if "." not in name:
            raise self.error(f"the alias '{name}' is not defined")
        if load_dialect(name[1:]) and (parse := DIALECT_ATTRIBUTES.get(name[1:])) is not None:
            return parse(self)
        return OpaqueAttr(name + (self.body_text() if self.text[self.pos] == "<" else ""))

    def body_text(self) -> str:
        """`<…>` of an attribute kept as text, with one space behind each comma (those in strings stay)."""
        text = self.balanced()
        return text if '"' in text else _comma.sub(", ", text)

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
                if int(digits, 16) >> ty.width:
                    raise self.error(f"{digits} has more bits than {ty}", at)
                value = bits_float(int(digits, 16), ty)
                return -value if sign else value
            if "." not in digits:
                raise self.error(f"a number of type {ty} needs a decimal point", at, hint=f"write {sign}{digits}.0")
            return float(sign + digits)
        if not isinstance(ty, (IntegerType, IndexType)):
            raise self.error(f"{ty} is no type of a number", at)
        if "." in digits:
            raise self.error(f"a number of type {ty} has no decimal point", at)
        value = int(sign + digits, 0) if digits.startswith("0x") else int(sign + digits)
        if not -(1 << (ty.width - 1)) <= value < 1 << ty.width:
            raise self.error(f"{value} does not fit into {ty}", at)
        return value

    def _element(self, ty: Type) -> int | float:
        if ty is i1 and (word := self.accept_any("true", "false")) is not None:
            return int(word == "true")
        at = self.pos
        return self._scalar(*self.number(), ty, at)

    # dense<…> stands before its type: the body is skipped, read once the type is known.

    def _dense(self, at: int) -> Attribute:
        start = self.pos
        self.balanced()
        self.expect(":")
        ty_at = self.pos
        ty = self.type()
        if not isinstance(ty, (TensorType, VectorType)):
            raise self.error(f"dense<…> needs a tensor or vector type, not {ty}", ty_at)
        end, self.pos = self.pos, start
        self.expect("<")
        if self.text[self.pos] == '"':
            values = self._raw_bytes(ty)
        elif self.peek(">"):
            values = []
        else:
            values, shape = self._nested(ty.element)
            if shape is not None and shape != ty.shape:
                raise self.error(f"the elements have the shape {list(shape)}, the type is {ty}", at)
        self.expect(">")
        self.pos = end
        if len(values) not in (1, ty.numel):
            raise self.error(f"{len(values)} elements for {ty}", at)
        return DenseElementsAttr(tuple(values), ty)

    def _nested(self, element: Type) -> tuple[list[Any], tuple[int, ...] | None]:
        """Values in row-major order and the shape of the brackets, None for a bare number."""
        at = self.pos
        if not self.accept("["):
            return [self._element(element)], None
        values: list[Any] = []
        inner: tuple[int, ...] | None = None
        count = 0
        while not self.accept("]"):
            if count:
                self.expect(",")
            more, shape = self._nested(element)
            if count and shape != inner:
                raise self.error("the rows have different lengths", at)
            values += more
            inner = shape
            count += 1
        return values, (count, *(inner or ()))

    def _raw_bytes(self, ty: ShapedType) -> list[Any]:
        at = self.pos
        text = self.string()
        element = ty.element
        width = getattr(element, "width", 0)
        if not text.startswith("0x") or width % 8 or not width:
            raise self.error('expected elements, or "0x…" with the bytes of whole-byte elements', at)
        try:
            data = bytes.fromhex(text[2:])
        except ValueError:
            raise self.error("odd digits in the bytes of the elements", at) from None
        size = width // 8
        numbers = [int.from_bytes(data[i : i + size], "little") for i in range(0, len(data), size)]
        return [bits_float(n, element) for n in numbers] if isinstance(element, FloatType) else numbers

    def _dense_array(self, at: int) -> Attribute:
        self.expect("<")
        element = self.type()
        values = []
        if self.accept(":"):
            values = self.comma_list(lambda: self._element(element), ">")
        else:
            self.expect(">")
        return DenseArrayAttr(tuple(values), element)

    # -- locations ------------------------------------------------------------------------------------------------

    def location(self) -> Location:
        """`loc(…)`"""
        self.expect("loc")
        self.expect("(")
        loc = self._location()
        self.expect(")")
        return loc

    def _location(self) -> Location:
        ch = self.text[self.pos]
        if ch == "#":
            at = self.pos
            found = self.alias(self.alias_name())
            if not isinstance(found, Location):
                raise self.error("this alias is no location", at)
            return found
        if ch == '"':
            return self._named_location()
        if self.peek("loc"):
            return self.location()
        if self.accept("unknown"):
            return UNKNOWN
        if self.accept("callsite"):
            self.expect("(")
            callee = self._location()
            self.expect("at")
            caller = self._location()
            self.expect(")")
            return CallSiteLoc(callee, caller)
        if self.accept("fused"):
            metadata = None
            if self.accept("<"):
                metadata = self.attribute()
                self.expect(">")
            self.expect("[")
            return FusedLoc(tuple(self.comma_list(self._location, "]")), metadata)
        raise self.expected(
            "a location", hint='locations are unknown, "file":1:2, "name"(…), callsite(… at …), fused[…]'
        )

    def _named_location(self) -> Location:
        text = self.string()
        if self.accept(":"):
            line = self.integer()
            self.expect(":")
            loc = FileLineColLoc(text, line, self.integer())
            if self.accept("to"):  # the end of a range is not kept
                while self.accept(":"):
                    self.integer()
            return loc
        if self.accept("("):
            child = self._location()
            self.expect(")")
            return NameLoc(text, child)
        return NameLoc(text)


_BY_CHARACTER: dict[str, Callable[[Any], Attribute]] = {
    '"': AttributeParser._string,
    "[": AttributeParser._array,
    "{": AttributeParser._dictionary,
    "@": AttributeParser._symbol,
    "#": AttributeParser._dialect_attribute,
    "!": AttributeParser._type_attr,
    "(": AttributeParser._type_attr,
}
