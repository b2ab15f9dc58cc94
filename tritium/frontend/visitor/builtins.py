"""Python builtins in kernels: on compile-time values, some also on run-time values."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..errors import LanguageError
from ..language import core
from .values import constexpr, has_handles, is_value, tl_tuple, type_text, unwrap, unwrap_deep, wrap

if TYPE_CHECKING:
    from ..semantics import Semantic

__all__ = ["BUILTINS", "STATIC", "call_static"]

BUILTIN_NAMES = """
    abs all any bool divmod enumerate float getattr hasattr int isinstance issubclass len list max min object pow print
    range repr reversed round slice sorted str sum tuple type zip NotImplementedError TypeError ValueError
"""
BUILTINS: dict[str, Any] = {name: getattr(builtins, name) for name in BUILTIN_NAMES.split()}
"""The builtins that kernels can use."""

STATIC: dict[Any, Callable[..., Any]] = {}
"""Python functions and their implementation in kernels: (semantic, args, kwargs) -> value."""


def _static(fn: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(handler: Callable[..., Any]) -> Callable[..., Any]:
        STATIC[fn] = handler
        return handler

    return register


def call_static(fn: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Call a Python function on compile-time values. Raises LanguageError for run-time values."""
    for arg in (*args, *kwargs.values()):
        if has_handles(arg):
            name = getattr(fn, "__name__", str(fn))
            raise LanguageError(
                f"TypeError: {name}() needs compile-time values in a kernel, got a value of type {type_text(arg)}",
                _RUN_TIME_FORM.get(name),
            )
    return wrap(fn(*map(unwrap_deep, args), **{k: unwrap_deep(v) for k, v in kwargs.items()}))


_RUN_TIME_FORM = {
    "int": "use x.to(tl.int32)",
    "len": "use x.shape[0]",
    "float": "use x.to(tl.float32)",
    "bool": "use x != 0",
    "round": "use tl.floor(x + 0.5)",
    "sum": "use tl.sum(x, axis)",
    "pow": "use tl.exp2(y * tl.log2(x)), or multiply",
    "cdiv": "use tl.cdiv(x, y)",
}
_SEQUENCES = (zip, enumerate, reversed)


def items_of(x: Any) -> list[Any]:
    """The elements of a tuple or of another compile-time sequence, as values of the language."""
    if isinstance(x, tl_tuple):
        return list(x.values)
    x = unwrap(x)
    if isinstance(x, (list, builtins.tuple, builtins.range, zip, enumerate, builtins.reversed)):
        return [wrap(v) for v in x]
    if isinstance(x, core.static_range):
        bounds = [unwrap(v) for v in (x.start, x.end, x.step)]
        if all(isinstance(v, int) for v in bounds):
            return [wrap(v) for v in builtins.range(*bounds)]
    raise LanguageError(f"TypeError: a value of type {type_text(x)} cannot be iterated at compile time")


def _check_arguments(fn: Any, args: list[Any], kwargs: dict[str, Any], count: int) -> None:
    """Raise Python's error unless a function gets exactly `count` positional arguments."""
    if kwargs:
        raise LanguageError(f"TypeError: {fn.__name__}() takes no argument {next(iter(kwargs))!r} in a kernel")
    if len(args) != count:
        plural = "s" if count > 1 else ""
        raise LanguageError(f"TypeError: {fn.__name__}() takes {count} argument{plural}, got {len(args)}")


@_static(len)
def _len(semantic: Semantic, args: list[Any], kwargs: dict[str, Any]) -> Any:
    _check_arguments(len, args, kwargs, 1)
    x = args[0]
    if isinstance(x, tl_tuple):
        return constexpr(len(x.values))
    if is_value(x) and hasattr(x, "__len__") and has_handles(x):
        return wrap(len(x))
    return call_static(len, args, kwargs)


@_static(slice)
def _slice(semantic: Semantic, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if kwargs or not 1 <= len(args) <= 3:
        raise LanguageError(f"TypeError: slice() takes 1 to 3 arguments by position, got {len(args) + len(kwargs)}")
    return call_static(slice, args, {})


@_static(isinstance)
def _isinstance(semantic: Semantic, args: list[Any], kwargs: dict[str, Any]) -> Any:
    _check_arguments(isinstance, args, kwargs, 2)
    x, kinds = args
    kinds = unwrap(kinds)
    kinds = builtins.tuple(map(unwrap, kinds.values)) if isinstance(kinds, tl_tuple) else kinds
    kinds = kinds if isinstance(kinds, builtins.tuple) else (kinds,)
    found = isinstance(x, kinds) or isinstance(unwrap(x), kinds)
    return constexpr(found or (isinstance(x, tl_tuple) and builtins.tuple in kinds))


@_static(getattr)
def _getattr(semantic: Semantic, args: list[Any], kwargs: dict[str, Any]) -> Any:
    _check_arguments(getattr, args, kwargs, 3 if len(args) == 3 else 2)
    x, name, *default = args
    x = unwrap(x)
    found = getattr(x, unwrap(name), *default)
    return wrap(found)


@_static(hasattr)
def _hasattr(semantic: Semantic, args: list[Any], kwargs: dict[str, Any]) -> Any:
    _check_arguments(hasattr, args, kwargs, 2)
    x, name = args
    return constexpr(hasattr(unwrap(x), unwrap(name)))


@_static(list)
@_static(builtins.tuple)
def _tuple(semantic: Semantic, args: list[Any], kwargs: dict[str, Any]) -> Any:
    return tl_tuple(items_of(args[0]) if args else [])


@_static(builtins.range)
def _range(semantic: Semantic, args: list[Any], kwargs: dict[str, Any]) -> Any:
    for arg in args:
        if has_handles(arg):
            raise LanguageError("TypeError: a range over run-time values can only be used in a `for` statement")
    return constexpr(builtins.range(*map(unwrap, args)))


def sequence(fn: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """zip, enumerate, reversed over tuples: a tuple of the elements."""
    return wrap([*fn(*(items_of(a) for a in args), **{k: unwrap(v) for k, v in kwargs.items()})])


for _fn in _SEQUENCES:
    STATIC[_fn] = lambda semantic, args, kwargs, fn=_fn: sequence(fn, args, kwargs)


def _extremum(static: Any, dynamic: Any) -> Callable[..., Any]:
    def handler(semantic: Semantic, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if kwargs:
            raise LanguageError(f"TypeError: {static.__name__}() takes no argument {next(iter(kwargs))!r} in a kernel")
        if len(args) == 1 and isinstance(args[0], tl_tuple):
            args = list(args[0].values)
        if len(args) < 2 and any(map(has_handles, args)):
            raise LanguageError(
                f"TypeError: {static.__name__}() of one block compares nothing", f"use tl.{static.__name__}(x, axis)"
            )
        if not any(map(has_handles, args)):
            numbers = [unwrap(a) for a in args]
            if any(n != n or (n == 0 and math.copysign(1, n) < 0) for n in numbers if isinstance(n, float)):
                raise LanguageError(
                    f"ValueError: {static.__name__}() of NaN or -0.0 depends on the order of its arguments in Python",
                    f"tl.{static.__name__}imum of run-time values says what it does with them",
                )
            mixed = any(isinstance(n, float) for n in numbers) and not all(isinstance(n, float) for n in numbers)
            return constexpr(static(map(float, numbers) if mixed else numbers))
        result = args[0]
        for other in args[1:]:
            result = dynamic(result, other, _semantic=semantic)
        return result

    return handler


STATIC[min] = _extremum(min, core.minimum)
STATIC[max] = _extremum(max, core.maximum)


@_static(abs)
def _abs(semantic: Semantic, args: list[Any], kwargs: dict[str, Any]) -> Any:
    _check_arguments(abs, args, kwargs, 1)
    if has_handles(args[0]):
        return core.abs(args[0], _semantic=semantic)
    return call_static(abs, args, kwargs)


@_static(print)
def _print(semantic: Semantic, args: list[Any], kwargs: dict[str, Any]) -> Any:
    return core.device_print(*args, **kwargs, _semantic=semantic)


def _on_constants(fn: Any) -> Callable[..., Any]:
    return lambda semantic, args, kwargs: call_static(fn, args, kwargs)


for _python in (int, float, bool, str, round, sum, pow, sorted, any, all, repr, divmod, issubclass):
    STATIC[_python] = _on_constants(_python)
for _name in dir(math):
    if callable(getattr(math, _name)) and not _name.startswith("_"):
        STATIC[getattr(math, _name)] = _on_constants(getattr(math, _name))
