"""Definition of functions of the language: `@builtin`, `@member`, and checks of their arguments."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ...support.files import read_regular
from ...support.hashing import sha256
from .. import dtypes
from ..callee import SourceFunction, python_calls
from ..constexpr import unwrap
from ..dtypes import dtype
from ..errors import LanguageError
from ..tensor import tensor, unwrap_literal, value_text
from ..tuples import tuple as tl_tuple

__all__ = [
    "OutsideKernel",
    "anywhere",
    "builtin",
    "check_dtype",
    "flag",
    "is_builtin",
    "member",
    "outside_kernel",
    "shape_of",
    "static_int",
    "text",
    "truth",
    "unwrap_sequence",
]

_PACKAGE = __name__.partition(".")[0]

F = TypeVar("F", bound=Callable[..., Any])
BUILTIN = "__tritium_builtin__"


def builtin(fn: F) -> F:
    """Mark a function that emits IR: the visitor calls it with `_semantic`; a call from Python raises OutsideKernel."""

    @functools.wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get("_semantic") is None:
            if python_calls.execute is not None:
                return python_calls.execute(wrapper, args, kwargs)
            raise outside_kernel(fn.__name__)
        return fn(*args, **kwargs)

    return anywhere(wrapper)  # type: ignore[no-any-return]


def anywhere(fn: Any) -> Any:
    """Mark a function that the visitor calls with `_semantic`, and Python may call without."""
    setattr(fn, BUILTIN, True)
    fn.__qualname__ = fn.__name__  # factories make several with one code object: the name distinguishes them
    fn.cache_key = f"{fn.__module__}.{fn.__name__}{_version(getattr(fn, '__wrapped__', fn))}"
    return fn


def _version(fn: Callable[..., Any]) -> str:
    """A hash of the code of a function that is not of this package: of its file, or of its code object."""
    if fn.__module__.partition(".")[0] == _PACKAGE:
        return ""
    try:
        data = read_regular(fn.__code__.co_filename)
    except OSError:
        data = fn.__code__.co_code
    return f":{sha256(data).hexdigest()[:16]}"


class OutsideKernel(ValueError):
    """A function of the language was called from Python."""


def outside_kernel(name: str) -> OutsideKernel:
    """The error of a call from Python."""
    return OutsideKernel(
        f"{name} can only be called inside a kernel: did you forget to add @triton.jit?"
        " (`_semantic` argument must be provided outside of JIT functions.)"
    )


def is_builtin(fn: Any) -> bool:
    """True for functions (and bound methods) decorated by `@builtin`."""
    return getattr(fn, BUILTIN, False)


def member(fn: Any) -> Any:
    """Also make the function a method of tensors: `x.fn(…)`."""
    name = fn.fn.__name__ if isinstance(fn, SourceFunction) else fn.__name__
    setattr(tensor, name, fn)
    return fn


# -- checks of arguments ------------------------------------------------------------------------------------------


def static_int(value: Any, what: str) -> int:
    """A compile-time integer. Raises LanguageError naming `what` otherwise."""
    value = unwrap_literal(value)
    if isinstance(value, bool) or not isinstance(value, int):
        if isinstance(value, float) and value.is_integer():
            return int(value)
        raise LanguageError(
            f"TypeError: {what} must be an integer known at compile time, got {value_text(value)}",
            "use a literal or a tl.constexpr parameter",
        )
    return value


def flag(value: Any) -> bool:
    """A boolean option known at compile time; strings are an error."""
    if isinstance(unwrap(value), str):
        raise LanguageError(f"TypeError: an option must be True or False, got {value_text(value)}")
    return truth(value)


def truth(value: Any) -> bool:
    """The truth of a value that is known at compile time."""
    value = unwrap(value)
    if value.__class__ is tensor:
        raise LanguageError("TypeError: an option must be known at compile time, got a run-time value")
    return bool(value)


def text(value: Any, what: str) -> str:
    """A compile-time string."""
    value = unwrap(value)
    if not isinstance(value, str):
        raise LanguageError(f"TypeError: {what} must be a string known at compile time, got {value_text(value)}")
    return value


def unwrap_sequence(values: Any) -> list[Any]:
    """The elements of a tuple, list or constexpr sequence (a single value counts as one), constexpr unwrapped."""
    values = unwrap(values)
    if isinstance(values, (tl_tuple, list, builtins.tuple)):
        return [unwrap(v) for v in values]
    return [values]


def shape_of(values: Sequence[Any], what: str = "shape") -> list[int]:
    """Dimensions given as one sequence or as several arguments: known at compile time."""
    if len(values) == 1 and not isinstance(unwrap(values[0]), int):
        values = unwrap_sequence(values[0])
    dims = [static_int(d, f"{what} element {i}") for i, d in enumerate(values)]
    for i, d in enumerate(dims):
        if d < 1:
            raise LanguageError(f"ValueError: Shape element {i} must be positive, got {d}")
    return dims


def check_dtype(ty: Any, what: str = "dtype") -> dtype:
    """A dtype, constexpr or not. Raises LanguageError naming `what` otherwise."""
    ty = unwrap(ty)
    if not isinstance(ty, dtype):
        raise LanguageError(
            f"TypeError: {what} must be a dtype such as tl.float32, got {value_text(ty)}", _dtype_hint(ty)
        )
    return ty


def _dtype_hint(ty: Any) -> str | None:
    """The hint for a dtype of another library."""
    name = (getattr(ty, "__name__", None) or str(ty)).rpartition(".")[2]
    name = {"bool": "int1", "float8_e4m3fn": "float8e4nv", "float8_e5m2": "float8e5"}.get(name, name)
    return f"pass tl.{name}" if isinstance(getattr(dtypes, name, None), dtype) else None
