"""What the arith and math dialects may say of how an operation computes: rounding, and what it need not care about."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

from ..ir import DIALECT_ATTRIBUTES, Attribute, dialect_attr_field, enum_field

if TYPE_CHECKING:
    from ..ir.parser import Parser

__all__ = [
    "FastMath",
    "FastMathField",
    "OptionalFastMathField",
    "Overflow",
    "OverflowField",
    "RoundingField",
    "RoundingMode",
]


class RoundingMode(enum.IntEnum):
    """The rounding mode of an inexact result."""

    to_nearest_even = 0
    downward = 1
    upward = 2
    toward_zero = 3
    to_nearest_away = 4


class _Flags(Attribute):
    """Base of attributes that are sets of flags; `ALL` lists them in the order of the text."""

    __slots__ = ("names",)
    names: tuple[str, ...]
    mnemonic = ""
    separator = ", "
    ALL: tuple[str, ...] = ()
    whole: str | None = None  # the word for all flags

    def __new__(cls, names: Iterable[str] = ()) -> Any:
        given = set(names)
        if cls.whole in given:
            given = set(cls.ALL)
        key = tuple(name for name in cls.ALL if name in given)
        if len(key) != len(given - {"none"}):
            raise ValueError(f"#{cls.mnemonic} has no flag {', '.join(sorted(given - {*cls.ALL, 'none'}))}")
        found = cls._table.get(key)
        if found is not None:
            return found
        self = object.__new__(cls)
        self.names = key
        return cls._table.setdefault(key, self)

    @classmethod
    def of(cls, text: str) -> Any:
        """From flags with commas between them, or `none`."""
        return cls(word.strip() for word in text.split(","))

    def spell(self, texts: dict[Any, str]) -> str:
        whole = self.whole is not None and len(self.names) == len(self.ALL)
        return f"#{self.mnemonic}<{self.whole if whole else self.separator.join(self.names) or 'none'}>"

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        """`<nsw, nuw>`"""
        parser.expect("<")
        at = parser.pos
        words = [parser.word("a flag")]
        while parser.accept(","):
            words.append(parser.word("a flag"))
        parser.expect(">")
        try:
            return cls(words)
        except ValueError as error:
            raise parser.error(str(error), at) from None


class FastMath(_Flags):
    """`#arith.fastmath<nnan,ninf>`: the IEEE 754 guarantees that the operation need not keep.

    `nnan`, `ninf`: no operand or result is NaN, or infinite. `nsz`: the sign of zero is insignificant. `arcp`: division
    may be multiplication by the reciprocal. `contract`: multiplication and addition may be fused (FMA). `afn`:
    functions may be approximate. `reassoc`: operations may be reassociated. `fast`: all of these.
    """

    __slots__ = ()
    mnemonic = "arith.fastmath"
    separator = ","
    ALL = ("reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn")
    whole = "fast"


class Overflow(_Flags):
    """`#arith.overflow<nsw, nuw>`: no signed or no unsigned overflow, otherwise the result is poison."""

    __slots__ = ()
    mnemonic = "arith.overflow"
    ALL = ("nsw", "nuw")


for _kind in (FastMath, Overflow):
    DIALECT_ATTRIBUTES[_kind.mnemonic] = _kind.parse

RoundingField = Annotated[RoundingMode | None, enum_field(RoundingMode)]
FastMathField = Annotated[FastMath | None, dialect_attr_field("arith.fastmath", FastMath.of)]
OptionalFastMathField = Annotated[FastMath | None, dialect_attr_field("arith.fastmath", FastMath.of, has_none=False)]
OverflowField = Annotated[Overflow | None, dialect_attr_field("arith.overflow", Overflow.of)]
