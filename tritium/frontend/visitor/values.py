"""Values of the language in the visitor: compile-time or run-time, flattened to IR values and rebuilt from them."""

from __future__ import annotations

import builtins
from collections import namedtuple
from collections.abc import Iterable
from typing import Any

from ...ir import Type, Value
from ..aggregates import aggregate_type
from ..callee import SourceFunction
from ..constexpr import constexpr
from ..dtypes import dtype
from ..errors import LanguageError
from ..language.core import is_builtin
from ..tensor import tensor
from ..tuples import tuple as tl_tuple

__all__ = [
    "constexpr",
    "dtype",
    "flatten",
    "has_handles",
    "is_builtin",
    "is_static",
    "is_value",
    "materialize",
    "rebuild",
    "with_items",
    "same_static",
    "set_hints",
    "static_key",
    "tensor",
    "tl_tuple",
    "type_text",
    "types_of",
    "unwrap",
    "unwrap_deep",
    "wrap",
]

NUMBERS = (bool, int, float)


def is_value(x: Any) -> bool:
    """True for values of the language that may hold IR values (tensors, tuples, descriptors, …)."""
    return hasattr(x, "_flatten_ir") and not isinstance(x, type)  # a class is a compile-time value


def unwrap(x: Any) -> Any:
    """The Python value inside a constexpr; anything else unchanged."""
    return x.value if isinstance(x, constexpr) else x


def unwrap_deep(x: Any) -> Any:
    """`unwrap`, also inside tuples, which become Python tuples (named ones keep their class where they have one)."""
    x = unwrap(x)
    if isinstance(x, tl_tuple):
        items = [unwrap_deep(v) for v in x.values]
        fields = getattr(x.type, "fields", None)
        return namedtuple("named", fields)(*items) if fields else builtins.tuple(items)
    if isinstance(x, (builtins.tuple, list)) and not hasattr(x, "_fields"):
        return type(x)(unwrap_deep(v) for v in x)
    return x


def wrap(x: Any) -> Any:
    """A Python value as a value of the language: numbers and strings are constexpr, sequences tuples."""
    kind = x.__class__
    if kind is tensor or kind is constexpr or x is None:
        return x
    if isinstance(x, (bool, int, float, str)):
        return constexpr(x)
    if kind is builtins.tuple or kind is list or (isinstance(x, builtins.tuple) and hasattr(x, "_fields")):
        items = [wrap(v) for v in x]
        return tl_tuple(items, fields=list(x._fields)) if hasattr(x, "_fields") else tl_tuple(items)
    return x


def flatten(x: Any) -> list[Value]:
    """The IR values inside a value of the language, in order; none for compile-time ones."""
    out: list[Value] = []
    if is_value(x):
        x._flatten_ir(out)
    return out


def has_handles(x: Any) -> bool:
    """True when the value exists (at least partly) at run time."""
    kind = x.__class__
    if kind is tensor:
        return True
    return kind is not constexpr and is_value(x) and bool(flatten(x))


def is_static(x: Any) -> bool:
    """True when the value is known at compile time."""
    return not has_handles(x)


def types_of(values: Iterable[Value]) -> list[Type]:
    """The IR types of IR values."""
    return [v.type for v in values]


def rebuild(like: Any, handles: list[Value]) -> Any:
    """A value of the type of `like` built from other IR values."""
    value, used = like.type._unflatten_ir(handles, 0)
    assert used == len(handles)
    return value


def materialize(x: Any, semantic: Any) -> Any:
    """Numbers (inside tuples too) as run-time tensors; run-time values and other constants unchanged."""
    if isinstance(x, constexpr) and isinstance(x.value, NUMBERS):
        return semantic.to_tensor(x)
    if isinstance(x, tl_tuple):
        return with_items(x, [materialize(v, semantic) for v in x.values])
    return x


def with_items(x: Any, items: list[Any]) -> Any:
    """A tuple like `x` (with its field names) of other elements; `x` itself where they are the same."""
    if all(a is b for a, b in zip(items, x.values)):
        return x
    fields = getattr(x.type, "fields", None)
    return tl_tuple(items, fields=fields) if fields else tl_tuple(items)


def same_static(a: Any, b: Any) -> bool:
    """True when two compile-time values have the same class and equal content."""
    a, b = unwrap(a), unwrap(b)
    if a is b:
        return True
    if isinstance(a, tl_tuple) and isinstance(b, tl_tuple):
        return len(a.values) == len(b.values) and all(map(same_static, a.values, b.values))
    if type(a) is not type(b) or is_value(a):
        return False
    return bool(a == b)


def static_key(x: Any) -> Any:
    """A hashable key of an argument for specialization: the type of run-time values, the content of others."""
    kind = x.__class__
    if kind is tensor:
        return x.type.mangle()
    if kind is constexpr:
        return static_key(x.value)
    if isinstance(x, tl_tuple):
        return ("tuple", *(getattr(x.type, "fields", None) or ()), *map(static_key, x.values))
    if isinstance(x, SourceFunction):
        return ("function", x.fn_name, id(x))
    if isinstance(x, type):
        return ("class", x)  # two classes may have one name
    if isinstance(getattr(x, "type", None), aggregate_type):
        return ("aggregate", x.type.cls, *(static_key(getattr(x, name)) for name, _ in x.type.fields))
    if is_value(x):
        return x.type.mangle()
    return (type(x).__name__, repr(x))


def type_text(x: Any) -> str:
    """The type of a value in error messages."""
    if has_handles(x):
        return str(x.type)
    x = unwrap(x)
    return "None" if x is None else f"constexpr {type(x).__name__}"


def set_hints(x: Any, name: str) -> None:
    """Name the IR values of `x` after the Python variable, unless they have a name."""
    if x.__class__ is tensor:
        if x.handle.hint is None:
            x.handle.hint = name
    elif is_value(x) and x.__class__ is not constexpr:
        for i, handle in enumerate(flatten(x)):
            if handle.hint is None:
                handle.hint = f"{name}_{i}"


def check_same_type(what: str, a: Any, b: Any, first: str, second: str) -> None:
    """Raise LanguageError where two values that must merge differ in type."""
    same = a.type == b.type if is_value(a) and is_value(b) else a is b
    if not same:
        raise LanguageError(f"{what}: {first} has type {type_text(a)}, {second} has type {type_text(b)}")
