"""The bases of Gluon's layouts, and how their fields are read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from ...support.lazy import LazyMethod
from ..aggregate_types import constexpr_type
from ..constexpr import constexpr
from ..errors import LanguageError
from ..tuples import tuple as tl_tuple

if TYPE_CHECKING:
    from ...dialects.ttg_layouts import Layout

__all__ = ["DistributedLayout", "LayoutValue", "SharedLayout", "plain"]


def plain(value: Any) -> Any:
    """A field's value in Python's terms: numbers, and lists of them for any sequence."""
    if isinstance(value, constexpr):
        return plain(value.value)
    if isinstance(value, (list, tuple, tl_tuple)):
        return [plain(v) for v in value]
    return value


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def joined(values: Iterable[Any] | None) -> str:
    """The numbers of a field in a symbol's name."""
    return "_".join(map(str, values or ()))


def joined_bases(bases: Iterable[Iterable[int]] | None) -> str:
    """Bases in a symbol's name."""
    return "_".join("~".join(map(str, basis)) for basis in bases or ())


@dataclass(frozen=True, eq=False)
class LayoutValue:
    """Base of all layouts: compile-time values, equal where class and fields are."""

    _repr_mimebundle_ = LazyMethod("...support.display", __package__)  # what notebooks show

    def __post_init__(self) -> None:
        for f in fields(self):
            object.__setattr__(self, f.name, plain(getattr(self, f.name)))
        self._check()

    def _check(self) -> None:
        """Raise LanguageError for fields that do not fit together."""

    def _key(self) -> tuple[Any, ...]:
        return tuple(_frozen(getattr(self, f.name)) for f in fields(self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and isinstance(self, type(other)) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((type(self), self._key()))

    @property
    def type(self) -> constexpr_type:
        """The type that holds this value only."""
        return constexpr_type(self)

    def mangle(self) -> str:
        """A name for symbols."""
        raise NotImplementedError

    def attribute(self) -> Any:
        """The attribute of the IR. Raises LanguageError where the fields make no layout."""
        try:
            return self._attribute()
        except ValueError as error:
            raise LanguageError(f"ValueError: {type(self).__name__}: {error}", f"it is {self}") from None

    def _attribute(self) -> Layout:
        raise NotImplementedError


class DistributedLayout(LayoutValue):
    """Base of the layouts of tensors in registers: which lane of which warp holds which elements."""

    is_chosen = True
    """False while the compiler is to choose the layout."""

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        raise NotImplementedError


class SharedLayout(LayoutValue):
    """Base of the layouts of buffers in shared memory."""


def require_rank(name: str, rank: int, **values: list[Any]) -> None:
    """Raise LanguageError unless all sequences have `rank` elements."""
    for field, value in values.items():
        if len(value) != rank:
            raise LanguageError(f"ValueError: {name}: {field} has {len(value)} dimensions, {rank} were expected")
