"""Interned values: one instance for each content, so that equality is identity. The bases of types and attributes."""

from __future__ import annotations

from typing import Any, ClassVar

from ..support.text import PLAIN

__all__ = ["Attribute", "Interned"]


class Interned:
    """A value kept once per distinct content; `_table` maps content to the one instance.

    `spell(texts)` gives its text, in which `texts[x]` stands for a type or attribute x that is part of it: that may be
    an alias. A value with an `alias_name` is shown as `#name`, `#name1`, … in a module, defined once above it.
    """

    __slots__ = ()
    _table: ClassVar[dict[Any, Any]] = {}
    alias_name: str | None = None

    def spell(self, texts: dict[Any, str]) -> str:
        """The MLIR text; parts are written through `texts`."""
        return str(self)

    def __str__(self) -> str:
        return self.spell(PLAIN)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._table = {}

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self


class Attribute(Interned):
    """Base of all attributes. `str(attribute)` is its MLIR text."""

    __slots__ = ()

    def spell_briefly(self, texts: dict[Any, str]) -> str:
        """The text where readers know the usual types of numbers, i64 and f64, as in arrays."""
        return texts[self]

    def __repr__(self) -> str:
        return str(self)
