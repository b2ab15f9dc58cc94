"""Suggestions: hints for names that the language does not have, and for calls with wrong arguments."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from ...support.lazy import LazyModule
from ...support.suggestions import did_you_mean
from ..constexpr import unwrap
from ..errors import LanguageError
from .values import has_handles, tl_tuple, type_text

__all__ = ["no_attribute", "wrong_call"]

_inspect = LazyModule("inspect")
_libdevice = LazyModule("..language.libdevice", __package__)

_DTYPES = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "int": "int32",
    "long": "int64",
    "short": "int16",
}

# methods of tensors in torch and NumPy
_METHODS = {
    "item": "a scalar block needs no item(); reduce blocks with tl.sum or tl.max",
    "size": "use x.shape",
    "float": "use x.to(tl.float32)",
    "half": "use x.to(tl.float16)",
    "int": "use x.to(tl.int32)",
    "astype": "use x.to(dtype)",
    "type_as": "use x.to(y.dtype)",
    "transpose": "use tl.trans(x)",
    "t": "use tl.trans(x)",
    "view": "use tl.reshape(x, shape)",
    "unsqueeze": "use x[:, None], or tl.expand_dims(x, axis)",
    "squeeze": "use tl.reshape(x, shape)",
    "flatten": "use tl.ravel(x)",
    "expand": "use tl.broadcast_to(x, shape)",
    "mean": "use tl.sum(x, axis) / x.shape[axis]",
    "pow": "use x * x, or libdevice.pow of triton.language.extra",
}

# functions of array libraries
_FUNCTIONS = {
    **{name: f"its name is tl.{dtype}" for name, dtype in _DTYPES.items()},
    "bool": "its name is tl.int1",
    "all": "use tl.min(x.to(tl.int32), axis)",
    "any": "use tl.max(x.to(tl.int32), axis)",
    "atomic_sub": "use tl.atomic_add(pointer, -value)",
    "clip": "use tl.clamp(x, low, high)",
    "concat": "use tl.join or tl.cat",
    "concatenate": "use tl.join or tl.cat",
    "dtype_of": "use x.dtype",
    "empty": "use tl.zeros(shape, dtype)",
    "eye": "use (i[:, None] == i[None, :]).to(dtype), where i is tl.arange(0, N)",
    "full_like": "use tl.full(x.shape, value, x.dtype)",
    "index_select": "load the elements: tl.load(pointer + index)",
    "inf": 'use float("inf")',
    "len": "use x.shape[0]",
    "linspace": "use start + tl.arange(0, N) * step",
    "logical_and": "use x & y",
    "logical_not": "use ~x",
    "logical_or": "use x | y",
    "matmul": "use tl.dot(x, y)",
    "mean": "use tl.sum(x, axis) / N",
    "mod": "use x % y",
    "nan": 'use float("nan")',
    "ones": "use tl.full(shape, 1, dtype)",
    "ones_like": "use tl.full(x.shape, 1, x.dtype)",
    "power": "use x * x, or libdevice.pow of triton.language.extra",
    "print": "use print or tl.device_print",
    "prod": "use tl.reduce(x, axis, multiply), where multiply is a function of two under @triton.jit",
    "relu": "use tl.maximum(x, 0.0)",
    "remainder": "use x % y",
    "shape": "use x.shape",
    "sign": "use tl.where(x > 0, 1, tl.where(x < 0, -1, 0))",
    "silu": "use x * tl.sigmoid(x)",
    "square": "use x * x",
    "stack": "use tl.join(x, y)",
    "syncthreads": "use tl.debug_barrier()",
    "transpose": "use tl.trans(x)",
    "unsqueeze": "use x[:, None], or tl.expand_dims(x, axis)",
    "var": "use tl.sum((x - mean) * (x - mean), axis) / N",
}


def no_attribute(owner: Any, name: str) -> LanguageError:
    """The error of `owner.name` for an attribute that does not exist."""
    if isinstance(owner, ModuleType):
        what = f"module {owner.__name__}"
        hint = _function_hint(owner, name)
    elif has_handles(owner):
        what, hint = f"a value of type {type_text(owner)}", _METHODS.get(name)
    else:
        what, hint = "None" if owner is None else f"{type(unwrap(owner)).__name__} {unwrap(owner)!r}", None
        if name in ("append", "extend", "insert", "pop") and isinstance(unwrap(owner), tl_tuple):
            hint = "lists are tuples in kernels: make a new one, x = x + [value]"
    return LanguageError(f"AttributeError: {what} has no attribute {name}", hint)


def _function_hint(module: ModuleType, name: str) -> str | None:
    if module.__name__ == f"{__name__.partition('.')[0]}.language":
        if name in _FUNCTIONS:
            return _FUNCTIONS[name]
        if callable(getattr(_libdevice, name, None)):
            return f"`from triton.language.extra import libdevice` has it: libdevice.{name}"
    return did_you_mean(name, (n for n in dir(module) if not n.startswith("_"))) or None


def wrong_call(fn: Any, args: list[Any], kwargs: dict[str, Any]) -> LanguageError | None:
    """The error of a call whose arguments do not match the signature; None if they do."""
    signature = _inspect.signature(fn)
    known = {name: p for name, p in signature.parameters.items() if not name.startswith("_")}
    try:
        signature.replace(parameters=list(known.values())).bind(*args, **kwargs)
    except TypeError as error:
        wrong = str(error)
    else:
        return None
    hint = f"it takes ({', '.join(known)})"
    if wrong.startswith("too many"):
        wrong = f"takes {len(known)} argument{'s'[: len(known) != 1]}, got {len(args)}"
    elif wrong.startswith("multiple"):
        wrong = f"got {wrong}"
    elif wrong.startswith("got an unexpected"):
        misspelt = next(name for name in kwargs if name not in known)
        hint = did_you_mean(misspelt, known) or hint
    return LanguageError(f"TypeError: {fn.__name__}() {wrong.replace('a required argument:', 'argument')}", hint)
