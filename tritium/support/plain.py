"""Values of classes as dictionaries and lists, which JSON can write."""

from __future__ import annotations

from typing import Any

from .dataclasses import fields, is_dataclass

__all__ = ["plain"]


def plain(value: Any) -> Any:
    """Dataclasses and named tuples as dictionaries by field, sequences as lists, recursively; other values unchanged.

    >>> from typing import NamedTuple
    >>> Pair = NamedTuple("Pair", [("a", int), ("b", tuple)])
    >>> plain([Pair(1, (2, 3)), {"x": Pair(4, ())}])
    [{'a': 1, 'b': [2, 3]}, {'x': {'a': 4, 'b': []}}]
    """
    if is_dataclass(type(value)):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if hasattr(value, "_asdict"):
        return {name: plain(part) for name, part in value._asdict().items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return {name: plain(part) for name, part in value.items()} if isinstance(value, dict) else value
