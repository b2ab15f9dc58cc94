"""The types of the llvm dialect: what is left of tiles when a thread's program is written for LLVM."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

from ..ir import Type
from ..ir.parameters import Boolean, DialectType, Int, Kind, Text, Typ

if TYPE_CHECKING:
    from ..ir.parser import Parser

__all__ = ["ArrayType", "FuncType", "PointerType", "StructType", "VoidType"]

_PREFIX = "!llvm."


def _inner(ty: Type, spell: Callable[[Any], str]) -> str:
    """A type inside another of this dialect, which leaves the prefix out."""
    return ty.spelled(spell).removeprefix(_PREFIX) if isinstance(ty, DialectType) and ty.name in _OWN else spell(ty)


def _read_inner(parser: Parser) -> Type:
    word = parser.accept_any(*_WORDS)
    if word is not None:
        found: Type = _OWN[f"llvm.{word}"].parse(parser)
        return found
    ty: Type = parser.type()
    return ty


def _types(v: Any) -> tuple[Type, ...]:
    types = tuple(v)
    if not all(isinstance(ty, Type) for ty in types):
        raise ValueError(f"{v!r} are no types")
    return types


_Types = Annotated["tuple[Type, ...]", Kind(_types, lambda parser: (), lambda v, spell: "")]


class PointerType(DialectType, name="llvm.ptr", form="list"):
    """`!llvm.ptr`, `!llvm.ptr<3>`: an address; the number is its address space (1 global, 3 shared)."""

    addressSpace: Int = 0


class VoidType(DialectType, name="llvm.void"):
    """`!llvm.void`: what a function returns that returns nothing."""


class ArrayType(DialectType, name="llvm.array"):
    """`!llvm.array<8 x f32>`: so many elements of one type, one after the other."""

    size: Int
    element: Typ

    def body(self, spell: Callable[[Any], str]) -> str:
        """`<8 x f32>`"""
        return f"<{self.size} x {_inner(self.element, spell)}>"

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        """The same, read."""
        at = parser.pos
        parser.expect("<")
        size = parser.integer()
        parser.expect("x")
        element = _read_inner(parser)
        parser.expect(">")
        return cls.build(parser, at, {"size": size, "element": element})


class StructType(DialectType, name="llvm.struct"):
    """`!llvm.struct<(i32, ptr<1>)>`, `!llvm.struct<"name", packed (i8, i32)>`: fields of any types."""

    fields: _Types
    packed: Boolean = False
    identifier: Text = ""
    opaque: Boolean = False

    def body(self, spell: Callable[[Any], str]) -> str:
        """`<"name", packed (i8, i32)>`"""
        name = f'"{self.identifier}", ' if self.identifier else ""
        if self.opaque:
            return f"<{name}opaque>"
        packed = "packed " if self.packed else ""
        return f"<{name}{packed}({', '.join(_inner(ty, spell) for ty in self.fields)})>"

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        """The same, read."""
        at = parser.pos
        given: dict[str, Any] = {"fields": ()}
        parser.expect("<")
        if parser.peek('"'):
            given["identifier"] = parser.string()
            parser.expect(",")
        given["opaque"] = parser.accept("opaque")
        if not given["opaque"]:
            given["packed"] = parser.accept("packed")
            parser.expect("(")
            given["fields"] = tuple(parser.comma_list(lambda: _read_inner(parser), ")"))
        parser.expect(">")
        return cls.build(parser, at, given)


class FuncType(DialectType, name="llvm.func"):
    """`!llvm.func<i32 (ptr, ...)>`: what a function returns and takes."""

    result: Typ
    inputs: _Types
    variadic: Boolean = False

    def body(self, spell: Callable[[Any], str]) -> str:
        """`<i32 (ptr, ...)>`"""
        inputs = [_inner(ty, spell) for ty in self.inputs] + ["..."] * self.variadic
        return f"<{_inner(self.result, spell)} ({', '.join(inputs)})>"

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        """The same, read."""
        at = parser.pos
        parser.expect("<")
        result = _read_inner(parser)
        parser.expect("(")
        inputs = parser.comma_list(lambda: None if parser.accept("...") else _read_inner(parser), ")")
        parser.expect(">")
        variadic = inputs[-1:] == [None]
        return cls.build(
            parser, at, {"result": result, "inputs": tuple(inputs[:-1] if variadic else inputs), "variadic": variadic}
        )


_OWN: dict[str, Any] = {cls.name: cls for cls in (PointerType, VoidType, ArrayType, StructType, FuncType)}
_WORDS = tuple(name.removeprefix("llvm.") for name in _OWN)
