"""Reading attributes and locations from MLIR text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ..support import UNKNOWN, CallSiteLoc, FileLineColLoc, FileRangeLoc, FusedLoc, Location, NameLoc
from .attributes import (
    DIALECT_ATTRIBUTES,
    UNIT,
    ArrayAttr,
    DictionaryAttr,
    OpaqueAttr,
    StringAttr,
    SymbolRefAttr,
    TypeAttr,
    bool_attr,
)
from .builtin_attributes import AffineAttr, DistinctAttr, LocationAttr, StridedLayoutAttr
from .interning import Attribute
from .lexer import BLANK
from .parse_numbers import NumberParser
from .registry import load_dialect

__all__ = ["AttributeParser"]

_comma = re.compile(r"\s*,\s*")
_file_location = re.compile(r'loc\("([^"\\\n]*)":(\d{1,9}):(\d{1,9})\)' + BLANK, re.ASCII).match
_word = re.compile(r"[a-z_]+").match


class AttributeParser(NumberParser):
    """A cursor that reads types, attributes and locations."""

    def attr_dict(self, keyword: str = "") -> dict[str, Attribute]:
        """`{a = 1 : i32, b}`, empty if none is next; with a keyword only after that."""
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
            self.enter()
            attr = reader(self)
            self.leave()
            return attr
        if ch in "0123456789-":
            return self._number()
        m = _word(self.text, self.pos)
        by_word = _BY_WORD.get(m[0]) if m is not None else None
        at = self.pos
        if by_word is None or not self.accept(m[0]):  # type: ignore[index]
            return TypeAttr(self.type())
        return by_word(self, at)

    def _true(self, at: int) -> Attribute:
        return bool_attr(True)

    def _false(self, at: int) -> Attribute:
        return bool_attr(False)

    def _unit(self, at: int) -> Attribute:
        return UNIT

    def _affine(self, at: int) -> Attribute:
        word = self.text[at : at + len("affine_map")]
        return AffineAttr(word + self.balanced(comparisons=True))

    def _strided(self, at: int) -> Attribute:
        self.expect("<")
        self.expect("[")
        strides = self.comma_list(self._integer_or_unknown, "]")
        offset: int | None = 0
        if self.accept(","):
            self.expect("offset")
            self.expect(":")
            offset = self._integer_or_unknown()
        self.expect(">")
        return StridedLayoutAttr(tuple(strides), offset)

    def _integer_or_unknown(self) -> int | None:
        return None if self.accept("?") else self.integer()

    def _distinct(self, at: int) -> Attribute:
        self.expect("[")
        number = self.integer()
        self.expect("]")
        self.expect("<")
        content = UNIT if self.peek(">") else self.attribute()
        self.expect(">")
        return DistinctAttr(number, content)

    def _location_attribute(self, at: int) -> Attribute:
        self.pos = at
        return LocationAttr(self.location())

    def _string(self) -> Attribute:
        text = self.string()
        return StringAttr(text, self.type() if self.accept(":") else None)

    def _array(self) -> Attribute:
        self.expect("[")
        return ArrayAttr(tuple(self.comma_list(self.attribute, "]")))

    def _dictionary(self) -> Attribute:
        return DictionaryAttr(self.attr_dict())

    def _symbol(self) -> Attribute:
        name = self.symbol_name()
        nested = []
        while self.accept("::"):
            nested.append(self.symbol_name())
        return SymbolRefAttr(name, tuple(nested))

    def _type_attr(self) -> Attribute:
        return TypeAttr(self.type())

    def _dialect_attribute(self) -> Attribute:
        name = self.alias_name()
        parse = DIALECT_ATTRIBUTES.get(name[1:])
        if parse is not None:
            return parse(self)
        if name in self._definitions:
            at = self.pos
            found = self.alias(name)
            if isinstance(found, Location):
                found = LocationAttr(found)
            if not isinstance(found, Attribute):
                raise self.error(f"the alias '{name}' is no attribute", at)
            return found
        if (long := self._long_form(name, DIALECT_ATTRIBUTES)) is not None:
            return long  # type: ignore[no-any-return]
        if "." not in name:
            raise self.error(f"the alias '{name}' is not defined")
        if load_dialect(name[1:]) and (parse := DIALECT_ATTRIBUTES.get(name[1:])) is not None:
            return parse(self)
        return OpaqueAttr(name + (self.body_text() if self.text[self.pos] == "<" else ""))

    def body_text(self) -> str:
        """`<…>` of an attribute kept as text, with one space after each comma (those in strings stay)."""
        text = self.balanced()
        return text if '"' in text else _comma.sub(", ", text)

    # -- locations ------------------------------------------------------------------------------------------------

    def location(self) -> Location:
        """`loc(…)`"""
        m = _file_location(self.text, self.pos)
        if m is not None:
            self.pos = m.end()
            return FileLineColLoc(m[1], int(m[2]), int(m[3]))
        self.expect("loc")
        self.expect("(")
        loc = self._location()
        self.expect(")")
        return loc

    def _location(self) -> Location:
        self.enter()
        loc = self._location_inside()
        self.leave()
        return loc

    def _location_inside(self) -> Location:
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
            return FusedLoc.of(self.comma_list(self._location, "]"), metadata)
        raise self.expected(
            "a location", hint='locations are unknown, "file":1:2, "name"(…), callsite(… at …), fused[…]'
        )

    def _named_location(self) -> Location:
        text = self.string()
        if self.accept(":"):
            line = self.integer()
            column = self.integer() if self.accept(":") else 0
            if self.accept("to"):
                end_line = line if self.peek(":") else self.integer()
                self.expect(":")
                end_column = self.integer()
                if (end_line, end_column) != (line, column):
                    return FileRangeLoc(text, line, column, end_line, end_column)
            return FileLineColLoc(text, line, column)
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

_BY_WORD: dict[str, Callable[[Any, int], Attribute]] = {
    "true": AttributeParser._true,
    "false": AttributeParser._false,
    "unit": AttributeParser._unit,
    "dense": AttributeParser._dense,
    "array": AttributeParser._dense_array,
    "dense_resource": AttributeParser._dense_resource,
    "affine_map": AttributeParser._affine,
    "affine_set": AttributeParser._affine,
    "strided": AttributeParser._strided,
    "distinct": AttributeParser._distinct,
    "loc": AttributeParser._location_attribute,
}
