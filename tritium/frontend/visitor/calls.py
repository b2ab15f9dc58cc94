"""Calls: library functions, functions of the language, constexpr functions, Python builtins, methods."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from types import FunctionType, MethodType
from typing import Any

from ...support.current_target import compiling_with
from ...support.lazy import LazyModule
from ...support.suggestions import did_you_mean
from ..callee import BoundCallee, ConstexprFunction, SourceFunction, unwrap_callee
from ..errors import CompileTimeAssertionFailure, LanguageError
from ..language import core
from ..language.builtin import OutsideKernel
from ..tensor import unwrap_literal
from .builtins import STATIC, call_static, items_of
from .core import Visitor, handles
from .operators import truth
from .printing import is_print, print_call
from .suggestions import wrong_call
from .values import (
    constexpr,
    dtype,
    has_handles,
    is_builtin,
    is_value,
    tensor,
    tl_tuple,
    type_text,
    unwrap,
    unwrap_deep,
    with_items,
    wrap,
)

_inspect = LazyModule("inspect")
_standard = LazyModule("..language.standard", __package__)

__all__ = ["apply", "bind_arguments", "call_arguments"]


def call_arguments(visitor: Visitor, node: ast.Call) -> tuple[list[Any], dict[str, Any]]:
    """The values of the arguments of a call, `*tuple` expanded."""
    args: list[Any] = []
    for arg in node.args:
        if isinstance(arg, ast.Starred):
            args += items_of(visitor.visit(arg.value))
        else:
            args.append(visitor.visit(arg))
    kwargs: dict[str, Any] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise visitor.unsupported(keyword.value, "`**` in a call", "write the keyword arguments out")
        kwargs[keyword.arg] = visitor.visit(keyword.value)
    return args, kwargs


@handles(ast.Call)
def _call(visitor: Visitor, node: ast.Call) -> Any:
    fn = visitor.visit(node.func)
    if node is visitor.unused:
        _check_unused(node, fn)
    if is_print(fn):
        return print_call(visitor, node)
    args, kwargs = call_arguments(visitor, node)
    visitor.node = node
    return apply(visitor, fn, args, kwargs)


def _check_unused(node: ast.Call, fn: Any) -> None:
    fn = fn.fn if isinstance(fn, BoundCallee) else unwrap(fn)
    note = getattr(fn, "_must_use_result", False)
    if note:
        what = f"The result of {ast.unparse(node.func)} is not being used."
        raise LanguageError(f"{what} {note}") if isinstance(note, str) else LanguageError(what, "assign it to a name")


def apply(visitor: Visitor, fn: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Call any callable of a kernel."""
    if fn.__class__ is constexpr:
        fn = fn.value
        if isinstance(fn, FunctionType):  # `@tl.constexpr` above a function, or a function as a compile-time argument
            # its arguments stay constexpr: such functions of Triton read `.value`
            return _in_python(visitor, fn, fn, args, kwargs)
    if fn is core.static_assert:
        return _static_assert(visitor, *args, **kwargs)
    if fn is core.static_print:
        return _static_print(args, kwargs)
    if is_builtin(fn):
        extra = {"_generator": visitor} if takes_generator(fn) else {}
        try:
            return wrap(fn(*args, **kwargs, **extra, _semantic=visitor.semantic))
        except TypeError as error:
            raise wrong_call(fn, args, kwargs) or error from None
    if isinstance(fn, SourceFunction):
        return visitor.unit.call(visitor, fn, args, kwargs)
    if isinstance(fn, BoundCallee):
        return visitor.unit.call(visitor, fn.fn, [fn.instance, *args], kwargs)
    if isinstance(fn, ConstexprFunction):
        return _constexpr_call(visitor, fn, args, kwargs)
    return _call_python(visitor, fn, args, kwargs)


_GENERATOR: dict[Any, bool] = {}


def takes_generator(fn: Any) -> bool:
    """True for library functions that compile their function arguments (reductions and scans)."""
    fn = getattr(fn, "__func__", fn)
    known = _GENERATOR.get(fn)
    if known is None:
        known = _GENERATOR[fn] = any("_generator" in names for names in _parameters_of(fn))
    return known


def _parameters_of(fn: Any) -> Iterator[tuple[str, ...]]:
    """The names of the parameters of a function, and of those that it wraps."""
    inner: Any = fn
    while inner is not None:
        code = getattr(inner, "__code__", None)
        if code is not None:
            yield code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        inner = getattr(inner, "__wrapped__", None)


def _call_python(visitor: Visitor, fn: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    owner = getattr(fn, "__self__", None)
    if isinstance(fn, MethodType) and is_value(owner) and "_semantic" in _inspect.signature(fn).parameters:
        return wrap(fn(*args, **kwargs, _semantic=visitor.semantic))  # a method that emits operations itself
    # the hash of the value's type: `list` is hashable although `list.__hash__` is None
    handler = STATIC.get(fn) if type(fn).__hash__ is not None else None
    if handler is not None:
        return handler(visitor.semantic, args, kwargs)
    inner = unwrap_callee(fn)
    if isinstance(inner, SourceFunction):
        return visitor.unit.call(visitor, inner, args, kwargs)
    if isinstance(fn, type):
        return _construct(visitor, fn, args, kwargs)
    if isinstance(fn, dtype) and len(args) == 1 and not kwargs:  # tl.float32(x)
        return visitor.semantic.cast(visitor.semantic.to_tensor(args[0]), fn)
    name = getattr(fn, "__qualname__", None) or type_text(fn)
    if isinstance(fn, FunctionType) and fn.__module__.startswith("tritium."):
        return call_static(fn, args, kwargs)  # helpers of the library that work on types and constants
    if isinstance(fn, FunctionType):
        raise LanguageError(
            f"{name} is a plain Python function and cannot be called from a kernel",
            "decorate it with @triton.jit to compile it with the kernel,"
            " or with @triton.constexpr_function to run it at compile time",
        )
    if callable(fn) and not any(map(has_handles, (*args, *kwargs.values()))) and _is_constant_method(fn):
        return wrap(fn(*map(unwrap_deep, args), **{k: unwrap_deep(v) for k, v in kwargs.items()}))
    module = (getattr(fn, "__module__", None) or type(fn).__module__).partition(".")[0]
    known = callable(fn) and module in ("math", "numpy", "torch", "builtins")
    hint = "use the functions of triton.language" if known else None
    raise LanguageError(f"TypeError: {name} cannot be called from a kernel", hint)


def _is_constant_method(fn: Any) -> bool:
    """Methods of compile-time values (str, dtype, int, shapes): safe to run while compiling."""
    owner = getattr(fn, "__self__", None)
    return owner is not None and not has_handles(owner)


def _construct(visitor: Visitor, cls: type[Any], args: list[Any], kwargs: dict[str, Any]) -> Any:
    """A class called in a kernel: constexpr, tuples, classes of the language; others of compile-time values."""
    if cls is constexpr:
        (value,) = args
        return value
    if cls is tl_tuple:
        return tl_tuple(items_of(args[0]) if args else [])
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        made = cls(*args, **kwargs)
        return tl_tuple(list(made), fields=list(cls._fields))
    if issubclass(cls, BaseException):
        raise visitor.unsupported(visitor.node, "raising an exception", "use tl.static_assert or tl.device_assert")
    if getattr(cls, "tritium_emits", False):
        return cls(*args, **kwargs, _semantic=visitor.semantic)
    if cls.__module__.startswith("tritium.") or hasattr(cls, "_flatten_ir"):
        return cls(*args, **kwargs)
    if any(map(has_handles, (*args, *kwargs.values()))):
        raise LanguageError(
            f"TypeError: objects of class {cls.__name__} cannot be constructed from run-time values",
            "a class under @triton.aggregate, a named tuple or a tuple holds them",
        )
    return wrap(cls(*map(unwrap_deep, args), **{name: unwrap_deep(value) for name, value in kwargs.items()}))


def _constexpr_call(visitor: Visitor, fn: ConstexprFunction, args: list[Any], kwargs: dict[str, Any]) -> Any:
    values = {name: unwrap_deep(value) for name, value in kwargs.items()}
    return _in_python(visitor, fn.fn, fn, list(map(unwrap_deep, args)), values)


def _in_python(
    visitor: Visitor, fn: Callable[..., Any], call: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]
) -> Any:
    """The result of `call`, which runs `fn` in Python: it may read the types of tensors, but not compute with them."""
    try:
        with compiling_with(visitor.semantic.options):
            return wrap(call(*args, **kwargs))
    except (TypeError, AttributeError, OutsideKernel) as error:
        tensors = [arg for arg in (*args, *kwargs.values()) if isinstance(arg, tensor) and has_handles(arg)]
        if not tensors:
            raise
        other = f"tl.{fn.__name__}" if hasattr(_standard, fn.__name__) else "a function under @triton.jit"
        raise LanguageError(
            f"TypeError: constexpr function {fn.__qualname__} got a {type_text(tensors[0])} only known at run time",
            f"its arguments must be compile-time values; {other} also takes run-time values",
        ) from error


# -- functions of the language ------------------------------------------------------------------------------------


def bind_arguments(callee: SourceFunction, args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The value of each parameter for a call: positional, keyword and default ones. Raises as Python would.

    A call inside a kernel does not enforce the annotation `tl.constexpr`, as in Triton: published kernels annotate
    tensors that way (`offs_m: tl.constexpr`). A use that needs a constant raises an error.
    """
    name = callee.__name__
    bound: dict[str, Any] = {}
    rest = list(args)
    kwargs = dict(kwargs)
    for p in callee.params:
        if p.takes_rest:
            bound[p.name], rest = tl_tuple(rest), []
            continue
        if p.takes_keywords:
            raise LanguageError(f"TypeError: {name} takes **{p.name}, which functions of the language cannot")
        if rest and not p.keyword_only:
            value = rest.pop(0)
            if p.name in kwargs:
                raise LanguageError(f"TypeError: {name}() got multiple values for argument '{p.name}'")
        elif p.name in kwargs:
            value = kwargs.pop(p.name)
        elif p.has_default:
            value = wrap(unwrap(p.default)) if not has_handles(p.default) else p.default
        else:
            _check_keywords(callee, kwargs)
            raise LanguageError(f"TypeError: {name}() missing argument '{p.name}'", f"it takes ({_parameters(callee)})")
        bound[p.name] = _static_shape(value) if p.name == "shape" and isinstance(value, tl_tuple) else value
    if rest:
        count = len(callee.params)
        raise LanguageError(
            f"TypeError: {name}() takes {count} argument{'s' * (count != 1)}, got {len(args)}",
            f"it takes ({_parameters(callee)})",
        )
    _check_keywords(callee, kwargs)
    return bound


def _static_shape(shape: tl_tuple) -> tl_tuple:
    """The tuple with literals as compile-time integers: a parameter of the called function is no literal."""
    return with_items(shape, [wrap(unwrap_literal(v)) for v in shape.values])


def _check_keywords(callee: SourceFunction, kwargs: dict[str, Any]) -> None:
    """Raise for a keyword that no parameter has."""
    wrong = next((name for name in kwargs if name not in callee.arg_names), None)
    if wrong is not None:
        raise LanguageError(
            f"TypeError: {callee.__name__}() got an unexpected keyword argument '{wrong}'",
            did_you_mean(wrong, callee.arg_names) or f"it takes ({_parameters(callee)})",
        )


def _parameters(callee: SourceFunction) -> str:
    return ", ".join(p.name for p in callee.params)


# -- compile-time checks and prints -------------------------------------------------------------------------------


def _static_assert(visitor: Visitor, cond: Any, msg: Any = "") -> None:
    if has_handles(cond):
        raise LanguageError(
            f"TypeError: static_assert needs a condition known at compile time, got a value of type {type_text(cond)}",
            "use tl.device_assert",
        )
    if not truth(cond):
        text = unwrap(msg)
        raise CompileTimeAssertionFailure(
            f"static assertion failed{f': {text}' if text else ''}", visitor.frames(visitor.node)
        )


def _static_print(args: list[Any], kwargs: dict[str, Any]) -> None:
    print(*(str(a) if has_handles(a) else unwrap_deep(a) for a in args), **{k: unwrap(v) for k, v in kwargs.items()})
